package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitStore;
import io.ratelimit.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What follows a call that has had no answer in time keeps nobody else's time-outs waiting. */
@Timeout(30)
class LateFailureThreadTests {

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private static final List<Charge> CHARGE = List.of(new Charge(TestLimits.tokenBucket("limit", 1, "1/h"), "key", 1));

    private static final class Silent implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            return new CompletableFuture<>();
        }

        @Override
        public CompletionStage<?> delete(byte[] key) {
            return new CompletableFuture<>();
        }
    }

    static Stream<Arguments> calls() {
        return Stream.of(
                call("decideAsync", store -> store.decideAsync(CHARGE)),
                call("decideRefundably", store -> store.decideRefundably(CHARGE)),
                call("check", RateLimitStore::check));
    }

    private static Arguments call(String name, Function<RateLimitStore, CompletionStage<?>> call) {
        return Arguments.argumentSet(name, call);
    }

    @ParameterizedTest
    @MethodSource("calls")
    void callersGoOnElsewhere(Function<RateLimitStore, CompletionStage<?>> call) {
        GuardedRedis redis = new GuardedRedis(new Silent(), TIMEOUT, "test");
        Thread timer = new CompletableFuture<Void>()
                .completeOnTimeout(null, 100, TimeUnit.MILLISECONDS)
                .handle((done, thrown) -> Thread.currentThread())
                .join();
        Thread follower = call.apply(new RedisRateLimitStore(redis, "test"))
                .handle((answer, thrown) -> Thread.currentThread())
                .toCompletableFuture()
                .join();
        redis.destroy();
        assertThat(follower).isNotSameAs(timer);
    }
}

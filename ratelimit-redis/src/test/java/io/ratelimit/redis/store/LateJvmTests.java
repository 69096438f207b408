package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Redis is well, and answers at once. It is this JVM that is late. */
@Timeout(180)
class LateJvmTests {

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private static final List<Charge> CHARGE =
            List.of(new Charge(TestLimits.tokenBucket("quotes", 10, "10/s"), "alice", 1));

    private final HandTurnedThread time = new HandTurnedThread();

    private final GuardedRedis redis = new GuardedRedis(new Well(), TIMEOUT, "test", true, time, time::nanos);

    private final RateLimitStore store = new RedisRateLimitStore(redis, "test");

    private final List<CompletableFuture<List<RateLimitDecision>>> others = new ArrayList<>();

    private int sent;

    /** What happens while the first script is being sent. */
    private Runnable stall = () -> {};

    private final class Well implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            Runnable now = stall;
            stall = () -> {};
            now.run();
            sent++;
            return CompletableFuture.completedFuture(Collections.nCopies(4 * arguments[0].length, 0L));
        }
    }

    @AfterEach
    void stop() {
        redis.destroy();
    }

    private void stall(Duration duration) {
        stall = () -> {
            for (int i = 0; i < 300; i++) {
                others.add(store.decide(StoreRequest.of(CHARGE))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture());
            }
            time.stall(duration);
        };
        store.decide(StoreRequest.of(CHARGE)).toStage().thenApply(StoreOutcome::decisions);
    }

    @Test
    void callsOfABurstAreAskedAboutAfterTheirTimeout() {
        stall(TIMEOUT.multipliedBy(3).dividedBy(2));
        assertThat(others).hasSize(300).allSatisfy(call -> assertThat(call).isCompleted());
    }

    @Test
    void callsThatCannotBeAskedAboutWithinTwoTimeoutsStallAndRedisIsAskedOn() {
        stall(TIMEOUT.multipliedBy(3));
        assertThat(others).allSatisfy(call -> assertThat(reasonOf(call)).isEqualTo(Reason.STALLED));
        assertThat(sent).isEqualTo(1);
        assertThat(store.decide(StoreRequest.of(CHARGE)).toStage().thenApply(StoreOutcome::decisions))
                .isCompleted();
        assertThat(sent).isEqualTo(2);
    }

    private static Reason reasonOf(CompletableFuture<?> call) {
        Supplier<Throwable> outcome =
                () -> call.handle((answer, thrown) -> thrown).join();
        return ((RateLimitStoreException) Futures.unwrap(outcome.get())).getReason();
    }
}

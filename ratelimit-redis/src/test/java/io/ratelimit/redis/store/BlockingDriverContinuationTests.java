package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.TemplateScriptExecutor;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What follows a decision may block where the driver does, and keeps no thread that scripts are sent by. */
@Timeout(180)
class BlockingDriverContinuationTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    /** More than there are threads for the driver. */
    private static final int CALLS = 64;

    @Test
    void blockingCallsThatFollowDecisionsAreDecided() {
        String prefix = RedisUnderTest.newPrefix();
        GuardedRedis guarded = TestStores.guarded(
                new TemplateScriptExecutor(redis.connections(), RateLimitScript.load()), Duration.ofSeconds(2), prefix);
        RateLimitGate gate = new RateLimitGate(
                new RedisRateLimitStore(guarded, prefix), (charge, decision, outcome) -> {}, Waiter.parking());
        RateLimit limit = TestLimits.tokenBucket("quotes", 1_000, "1/h");
        CompletableFuture<?>[] calls = IntStream.range(0, CALLS)
                .mapToObj(number -> gate.enterAsync(entry(limit, "first" + number))
                        .thenApply(first -> gate.enter(entry(limit, "second" + number)))
                        .toCompletableFuture())
                .toArray(CompletableFuture[]::new);
        assertThat(CompletableFuture.allOf(calls)).succeedsWithin(Duration.ofSeconds(60));
    }

    private static AcquireRequest entry(RateLimit limit, String key) {
        return new AcquireRequest(List.of(new Charge(limit, key, 1)), false, CallListener.NONE);
    }
}

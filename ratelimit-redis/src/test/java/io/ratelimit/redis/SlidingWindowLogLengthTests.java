package io.ratelimit.redis;

import static io.ratelimit.testing.LimitKind.SLIDING_WINDOW_LOG;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How many entries a log has in Redis. */
class SlidingWindowLogLengthTests {

    /** Out of view, but in the same block as one in view. */
    private static final long MORE = 15;

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimitStore store =
            TestStores.over(new FakeTimeScriptExecutor(redis.connections(), clock), prefix);

    @Test
    void logHasNoMoreThanItsCapacityOfWhatAnotherRuleAdmits() {
        take(SLIDING_WINDOW_LOG.limit("log", 10, "10/h"));
        for (int call = 0; call < 100; call++) {
            clock.advance(1);
            take(TestLimits.tokenBucket("log", 1_000, "1000/h"));
        }
        assertThat(entries()).isBetween(10L, 10L + MORE);
    }

    @Test
    void twoLogsHaveAsManyAsTheLargerOne() {
        take(SLIDING_WINDOW_LOG.limit("log", 10, "10/h"));
        take(SLIDING_WINDOW_LOG.limit("log", 30, "30/h"));
        for (int call = 0; call < 100; call++) {
            clock.advance(1);
            take(TestLimits.tokenBucket("log", 1_000, "1000/h"));
        }
        assertThat(entries()).isBetween(30L, 30L + MORE);
    }

    private void take(RateLimit limit) {
        assertThat(store.decide(new Charge(limit, "key", 1)).await().decision().allowed())
                .isTrue();
    }

    private long entries() {
        String key = redis.commands().keys(prefix + "*").iterator().next();
        return PackedLog.blocks(redis.commands(), key).stream()
                .mapToInt(PackedLog::entries)
                .sum();
    }
}

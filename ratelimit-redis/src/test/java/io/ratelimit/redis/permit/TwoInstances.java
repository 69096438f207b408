package io.ratelimit.redis.permit;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.store.HoldingInstance;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two instances with one Redis, whose calls hold permits of a limit of two. */
abstract class TwoInstances {

    static final long SECOND = 1_000_000;

    /** The time after which an instance renews its permits. */
    static final Duration THIRD = Duration.ofSeconds(10);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    final TestClock clock = new TestClock();

    final String prefix = RedisUnderTest.newPrefix();

    final RateLimit limit = TestLimits.concurrency("exports", 2);

    final HoldingInstance one = new HoldingInstance(redis, clock, prefix);

    final HoldingInstance other = new HoldingInstance(redis, clock, prefix);

    static void release(StoreOutcome call) {
        HoldingInstance.release(call);
    }

    StoreOutcome enter(HoldingInstance instance, String key) {
        return instance.enter(new Charge(limit, key, 1));
    }

    boolean isAdmitted(HoldingInstance instance, String key) {
        return enter(instance, key).decision().allowed();
    }

    long free(RateLimitStore store) {
        return store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                .await()
                .decision()
                .remaining();
    }
}

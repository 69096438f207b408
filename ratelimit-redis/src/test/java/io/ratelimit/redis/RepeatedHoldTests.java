package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls that Redis decides once more, because the first reply was lost or an error. */
class RepeatedHoldTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimit limit = TestLimits.concurrency("exports", 5);

    private final RateLimit log = RateLimit.named("quotes")
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .capacity(5)
            .rate("5/h")
            .build();

    private final HoldingInstance other = new HoldingInstance(redis, clock, prefix);

    private long free() {
        return other.store.peek(new Charge(limit, "alice", 0)).remaining();
    }

    /** As a driver does whose connection is lost. */
    @Test
    void callThatIsSentTwiceTakesItsPermitsOnce() {
        HoldingInstance one = new HoldingInstance(redis, clock, prefix);
        one.enter(new Charge(limit, "alice", 1));
        one.repeating = true;
        StoreOutcome all = one.enter(new Charge(limit, "alice", 4));
        one.repeating = false;
        assertThat(all.decision().allowed()).isTrue();
        assertThat(free()).isZero();
        HoldingInstance.release(all);
        assertThat(free()).isEqualTo(4);
    }

    /** A damaged value fails the script after it has written what the call before holds. */
    @Test
    void callOfABatchThatFailsTakesItsPermitsOnce() {
        HoldingInstance one = new HoldingInstance(redis, clock, prefix, BatchingDispatcher::new);
        Charge damaged = new Charge(log, "alice", 1);
        one.store.decide(damaged);
        String name = new String(new BucketKeys(prefix).name(log, "alice"), StandardCharsets.UTF_8);
        for (String key : redis.commands().keys("*" + name)) {
            if (!key.startsWith("expires")) {
                redis.commands().opsForList().set(key, 1, "x");
            }
        }
        one.enter(new Charge(limit, "alice", 1));
        one.slow = true;
        CompletableFuture<StoreOutcome> before = one.enterAsync(new Charge(limit, "bob", 1));
        one.slow = false;
        CompletableFuture<StoreOutcome> held = one.enterAsync(new Charge(limit, "alice", 4));
        CompletableFuture<StoreOutcome> failed = one.enterAsync(damaged);
        one.scripts.clear();
        one.answer();
        // A batch, and each of its calls.
        assertThat(one.scripts).containsExactly(2, 1, 1);
        assertThat(before).isCompleted();
        assertThat(failed).isCompletedExceptionally();
        assertThat(held)
                .isCompletedWithValueMatching(outcome -> outcome.decision().allowed());
        assertThat(free()).isZero();
        HoldingInstance.release(held.join());
        assertThat(free()).isEqualTo(4);
        assertThat(redis.commands().keys(prefix + ":*alice*held")).hasSize(1);
    }
}

package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.TestExecutors;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.store.HoldingInstance;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
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
        return other.store
                .decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                .await()
                .decision()
                .remaining();
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
        damage(one, damaged);
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

    private void damage(HoldingInstance one, Charge charge) {
        one.store.decide(charge).await();
        redis.commands().opsForList().set(name(charge), 1, "x");
    }

    private String name(Charge charge) {
        return new String(new BucketNaming(prefix).name(charge.limit(), charge.key()), StandardCharsets.UTF_8);
    }

    /** A bucket is written before others are read if a call comes from an instance with another rule. */
    @Test
    void batchThatFailsAfterItHasChargedACallChargesItOnce() {
        HoldingInstance one = batching();
        RateLimit before = TestLimits.tokenBucket("orders", 10, "1/h");
        RateLimit after = TestLimits.tokenBucket("orders", 20, "1/h");
        Charge damaged = new Charge(log, "alice", 1);
        damage(one, damaged);
        List<CompletableFuture<StoreOutcome>> batch =
                batch(one, new Charge(before, "alice", 1), new Charge(after, "alice", 1), damaged);
        List<Integer> scripts = List.copyOf(one.scripts);
        assertThat(one.store
                        .decide(StoreRequest.peek(new Charge(before, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(9);
        assertThat(scripts).containsExactly(3);
        assertThat(batch).allMatch(CompletableFuture::isCompletedExceptionally);
    }

    @Test
    void batchThatFailsWhileItWritesChargesItsCallsOnce() {
        HoldingInstance one = batching();
        RateLimit orders = TestLimits.tokenBucket("orders", 10, "1/h");
        Charge damaged = new Charge(TestLimits.tokenBucket("exact", 20, "1/h"), "alice", 1);
        // No time until all of them are back can be written.
        redis.commands().opsForValue().set(name(damaged), "T10@1/h:9007199254740991:1");
        List<CompletableFuture<StoreOutcome>> batch = batch(one, new Charge(orders, "alice", 1), damaged);
        List<Integer> scripts = List.copyOf(one.scripts);
        assertThat(one.store
                        .decide(StoreRequest.peek(new Charge(orders, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(9);
        assertThat(scripts).containsExactly(2);
        assertThat(batch).allMatch(CompletableFuture::isCompletedExceptionally);
    }

    @Test
    void valueOfAnotherTypeFailsItsCallOnly() {
        HoldingInstance one = batching();
        RateLimit orders = TestLimits.tokenBucket("orders", 10, "1/h");
        Charge foreign = new Charge(log, "alice", 1);
        redis.commands().opsForHash().put(name(foreign), "field", "value");
        List<CompletableFuture<StoreOutcome>> batch = batch(one, new Charge(orders, "alice", 1), foreign);
        assertThat(one.scripts).containsExactly(2);
        assertThat(batch.get(0)).isCompleted();
        assertThat(batch.get(1)).isCompletedExceptionally();
        assertThat(one.store
                        .decide(StoreRequest.peek(new Charge(orders, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(9);
    }

    /** Runs each script once, as Redis does without a test's clock. */
    private HoldingInstance batching() {
        return new HoldingInstance(
                TestExecutors.lettuce(redis.connections(), RateLimitScript.load(), null),
                clock,
                prefix,
                BatchingDispatcher::new);
    }

    /** Has one script decide the calls. */
    private List<CompletableFuture<StoreOutcome>> batch(HoldingInstance one, Charge... charges) {
        one.slow = true;
        var unused = one.enterAsync(new Charge(TestLimits.tokenBucket("first", 10, "1/h"), "bob", 1));
        one.slow = false;
        List<CompletableFuture<StoreOutcome>> batch =
                Stream.of(charges).map(one::enterAsync).toList();
        one.scripts.clear();
        one.answer();
        return batch;
    }
}

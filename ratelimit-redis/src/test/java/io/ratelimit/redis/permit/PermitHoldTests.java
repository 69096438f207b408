package io.ratelimit.redis.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Permits that calls of several instances hold in Redis: renewed by the living, freed after the dead. */
class PermitHoldTests extends TwoInstances {

    @Test
    void permitsOfADeadInstanceAreFreeAfterTheHoldAndNotBefore() {
        enter(one, "alice");
        clock.advance(5 * SECOND);
        enter(one, "alice");
        clock.advance(25 * SECOND - 1);
        assertThat(isAdmitted(other, "alice")).isFalse();
        clock.advance(1);
        assertThat(isAdmitted(other, "alice")).isTrue();
        assertThat(isAdmitted(other, "alice")).isFalse();
        clock.advance(5 * SECOND);
        assertThat(isAdmitted(other, "alice")).isTrue();
    }

    @Test
    void permitsOfALivingInstanceAreHeldForAsLongAsTheCallRuns() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        for (int i = 0; i < 20; i++) {
            one.pass(THIRD);
            assertThat(isAdmitted(other, "alice")).isFalse();
        }
        release(call);
        assertThat(free(other.store)).isEqualTo(2);
        assertThat(one.lostPermits()).isZero();
    }

    @Test
    void oneScriptRenewsAllPermitsOfAnInstance() {
        RateLimit many = TestLimits.concurrency("many", 10);
        IntStream.range(0, 900).forEach(i -> one.enter(new Charge(many, "key-" + i % 300, 1)));
        one.scripts.clear();
        one.pass(THIRD);
        assertThat(one.scripts).containsExactly(300);
        clock.advance(29 * SECOND);
        assertThat(other.store
                        .decide(StoreRequest.peek(new Charge(many, "key-7", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(7);
        clock.advance(SECOND);
        assertThat(other.store
                        .decide(StoreRequest.peek(new Charge(many, "key-7", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10);
    }

    /** As many as fit in some commands of the script, and those that Redis has lost among them. */
    @LongRunning
    @Test
    void oneScriptRenewsThousandsOfCallsOfAKey() {
        RateLimit many = TestLimits.concurrency("many", 10_000);
        IntStream.range(0, 2_150).forEach(i -> one.enter(new Charge(many, "alice", 1 + i % 2)));
        one.scripts.clear();
        one.pass(THIRD);
        assertThat(one.scripts).containsExactly(1);
        assertThat(one.lostPermits()).isZero();
        redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
        other.enter(new Charge(many, "alice", 5));
        one.pass(THIRD);
        assertThat(one.lostPermits()).isEqualTo(3_225);
        assertThat(other.store
                        .decide(StoreRequest.peek(new Charge(many, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10_000 - 3_225 - 5);
        clock.advance(29 * SECOND);
        assertThat(other.store
                        .decide(StoreRequest.peek(new Charge(many, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10_000 - 3_225);
        clock.advance(SECOND);
        assertThat(other.store
                        .decide(StoreRequest.peek(new Charge(many, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10_000);
    }

    /** Redis has none of them, so that the script does the most work. */
    @LongRunning
    @Test
    void oneScriptRenewsTenThousandCallsOfAKey() {
        Charge charge = new Charge(TestLimits.concurrency("many", 20_000), "alice", 1);
        byte[] name = new BucketNaming(prefix).name(charge.limit(), charge.key());
        IntStream.range(0, 10_000)
                .forEach(i -> one.permits.ask(List.of(charge), List.of(name)).forEach(PermitHold::begin));
        one.pass(THIRD);
        assertThat(one.scripts).containsExactly(1);
        assertThat(other.store
                        .decide(StoreRequest.peek(charge))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10_000);
        one.permits.ask(List.of(charge), List.of(name)).forEach(PermitHold::begin);
        one.scripts.clear();
        one.pass(THIRD);
        assertThat(one.scripts).containsExactly(1, 1);
        assertThat(other.store
                        .decide(StoreRequest.peek(charge))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(9_999);
    }

    /** A key takes Redis as long as some calls. */
    @Test
    void oneScriptRenewsAThousandKeys() {
        RateLimit many = TestLimits.concurrency("many", 10);
        IntStream.range(0, 1_200).forEach(i -> one.enter(new Charge(many, "key-" + i, 1)));
        one.scripts.clear();
        one.pass(THIRD);
        assertThat(one.scripts).containsExactly(1_000, 200);
    }

    @Test
    void nothingIsRenewedAfterTheLastRelease() {
        release(enter(one, "alice"));
        one.scripts.clear();
        one.pass(THIRD.multipliedBy(5));
        assertThat(one.scripts).isEmpty();
        assertThat(one.thread.isIdle()).isTrue();
    }

    @Test
    void instanceThatPausedForLongerThanTheHoldIsCountedAgain() {
        StoreOutcome paused = one.enter(new Charge(limit, "alice", 2));
        clock.advance(31 * SECOND);
        StoreOutcome next = enter(other, "alice");
        assertThat(next.decision().allowed()).isTrue();
        one.thread.pass(THIRD);
        assertThat(one.lostPermits()).isEqualTo(2);
        release(next);
        assertThat(isAdmitted(other, "alice")).isFalse();
        release(paused);
        assertThat(free(other.store)).isEqualTo(2);
    }

    @Test
    void permitsThatRedisHasLostAreCountedAgain() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
        one.pass(THIRD);
        assertThat(isAdmitted(other, "alice")).isFalse();
        assertThat(one.lostPermits()).isEqualTo(2);
        release(call);
        assertThat(free(other.store)).isEqualTo(2);
    }

    @Test
    void renewalThatFailsIsRepeatedSoon() {
        one.enter(new Charge(limit, "alice", 2));
        one.unreachable = true;
        one.pass(Duration.ofSeconds(25));
        one.unreachable = false;
        one.pass(Duration.ofSeconds(1));
        clock.advance(29 * SECOND);
        assertThat(isAdmitted(other, "alice")).isFalse();
        clock.advance(SECOND);
        assertThat(isAdmitted(other, "alice")).isTrue();
    }

    @Test
    void clockThatIsSetBackKeepsNothingForLongerThanTheHold() {
        one.enter(new Charge(limit, "alice", 2));
        clock.advance(-3_600 * SECOND);
        assertThat(isAdmitted(other, "alice")).isFalse();
        clock.advance(30 * SECOND - 1);
        assertThat(isAdmitted(other, "alice")).isFalse();
        clock.advance(1);
        assertThat(isAdmitted(other, "alice")).isTrue();
    }

    @Test
    void differentHoldsOfOneLimitAreKept() {
        RateLimit longer = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(2)
                .hold(Duration.ofSeconds(60))
                .build();
        one.enter(new Charge(longer, "alice", 1));
        enter(other, "alice");
        clock.advance(30 * SECOND);
        assertThat(free(other.store)).isEqualTo(1);
        clock.advance(30 * SECOND);
        assertThat(free(other.store)).isEqualTo(2);
    }

    /** Such as a call that costs more than the capacity: it might wait, but for nothing. */
    @Test
    void callThatCanNeverSucceedLeavesAnUnusedBucketAsItIs() {
        RateLimit waiting = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(2)
                .maxWait(Duration.ofSeconds(1))
                .build();
        assertThat(one.enter(new Charge(waiting, "alice", 3)).decision().retryAfter())
                .isNull();
        assertThat(redis.commands().keys("*" + prefix + "*")).isEmpty();
        assertThat(isAdmitted(one, "alice")).isTrue();
    }

    @Test
    void permitsThatAreCountedAgainMayExpireBeforeAllOthers() {
        RateLimit longer = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(2)
                .hold(Duration.ofSeconds(60))
                .build();
        enter(one, "alice");
        other.enter(new Charge(longer, "alice", 1));
        redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
        other.thread.pass(Duration.ofSeconds(20));
        one.thread.pass(THIRD);
        assertThat(free(other.store)).isZero();
        clock.advance(30 * SECOND);
        assertThat(free(other.store)).isEqualTo(1);
    }

    @Test
    void callThatEndsWhileItIsRenewedHasLostNothing() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        one.slow = true;
        one.pass(THIRD);
        one.slow = false;
        release(call);
        one.answer();
        assertThat(one.lostPermits()).isZero();
        assertThat(free(other.store)).isEqualTo(2);
    }

    @Test
    void onlyWhatHasFailedIsRenewedAgain() {
        one.topology = RedisTopology.UNKNOWN_CLUSTER;
        RateLimit many = TestLimits.concurrency("many", 10);
        IntStream.range(0, 10).forEach(i -> one.enter(new Charge(many, "key-" + i, 1)));
        one.failing = 3;
        one.pass(THIRD);
        one.scripts.clear();
        one.pass(Duration.ofMillis(500));
        assertThat(one.scripts).hasSize(3);
        one.scripts.clear();
        one.pass(Duration.ofMillis(9_500));
        assertThat(one.scripts).hasSize(10);
    }

    @Test
    void lossIsLoggedOnceForAnOutage() {
        String message =
                "WARNING Permits of running calls had expired or were lost by Redis (2 of the limits 'exports'); counting"
                        + " them again, but others may have taken them meanwhile";
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            one.enter(new Charge(limit, "alice", 2));
            for (int i = 0; i < 3; i++) {
                redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
                one.pass(THIRD);
            }
            assertThat(one.lostPermits()).isEqualTo(6);
            assertThat(one.lost).containsExactly(2L, 2L, 2L);
            assertThat(log.text()).isEqualTo(message);
            one.pass(THIRD);
            redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
            one.pass(THIRD);
            assertThat(log.text()).isEqualTo(message + "\n" + message);
        }
    }

    @Test
    void errorDoesNotEndTheRenewals() {
        enter(one, "alice");
        one.broken = true;
        one.pass(THIRD);
        one.broken = false;
        one.scripts.clear();
        one.pass(Duration.ofSeconds(1));
        assertThat(one.scripts).hasSize(1);
    }

    @Test
    void threadThatCannotBeCreatedDoesNotEndTheRenewals() {
        one.thread.failToStart();
        StoreOutcome call = enter(one, "alice");
        assertThat(call.decision().allowed()).isTrue();
        one.thread.forget();
        one.thread.stall(THIRD);
        assertThat(one.permits.resume()).isNull();
        one.thread.stall(THIRD);
        assertThat(one.permits.resume()).isEqualTo("Renewals of permits were stuck and have been resumed");
        one.scripts.clear();
        one.thread.turn();
        assertThat(one.scripts).hasSize(1);
        one.pass(THIRD);
        assertThat(one.scripts).hasSize(2);
    }
}

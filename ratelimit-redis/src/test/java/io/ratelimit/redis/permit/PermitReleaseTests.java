package io.ratelimit.redis.permit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Permits come back to Redis when a call ends, the instance stops, or a reply is lost; a release that fails is repeated. */
class PermitReleaseTests extends TwoInstances {

    @Test
    void releaseOfPermitsThatHaveExpiredTakesNoneOfOthers() {
        StoreOutcome paused = one.enter(new Charge(limit, "alice", 2));
        clock.advance(31 * SECOND);
        StoreOutcome next = enter(other, "alice");
        release(paused);
        assertThat(free(other.store)).isEqualTo(1);
        release(next);
        assertThat(free(other.store)).isEqualTo(2);
    }

    /** The thread that has planned it does not know yet that it is over. */
    @Test
    void releaseThatIsRepeatedWhileItIsPlannedKeepsNoOtherFromBeingRepeated() {
        StoreOutcome call = enter(one, "alice");
        StoreOutcome next = enter(one, "alice");
        one.unreachable = true;
        one.thread.overtake(() -> one.unreachable = false);
        release(call);
        assertThat(free(other.store)).isEqualTo(1);
        one.unreachable = true;
        release(next);
        one.unreachable = false;
        one.pass(Duration.ofSeconds(1));
        assertThat(free(other.store)).isEqualTo(2);
    }

    @Test
    void releaseThatFailsIsRepeated() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        one.unreachable = true;
        release(call);
        one.pass(Duration.ofSeconds(3));
        assertThat(free(other.store)).isZero();
        one.unreachable = false;
        one.pass(Duration.ofSeconds(1));
        assertThat(free(other.store)).isEqualTo(2);
    }

    @Test
    void releaseIsNotRepeatedAfterThePermitsHaveExpired() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        one.unreachable = true;
        release(call);
        one.pass(Duration.ofSeconds(60));
        assertThat(one.thread.isIdle()).isTrue();
    }

    @Test
    void permitsOfRunningCallsAreReleasedOnceWhenTheInstanceStops() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        one.redis.stop();
        assertThat(free(other.store)).isEqualTo(2);
        assertThat(one.store.heldPermits(limit)).isZero();
        other.enter(new Charge(limit, "alice", 2));
        release(call);
        one.thread.pass(THIRD);
        assertThat(free(other.store)).isZero();
        assertThat(one.lostPermits()).isZero();
    }

    /** Else a call that waits takes what the stop has released, and nothing renews or releases it. */
    @Test
    void callHoldsNothingOnceTheInstanceStops() {
        StoreRequest request = StoreRequest.refundable(List.of(new Charge(limit, "alice", 1)));
        StoreAnswer asked = one.store.decide(request);
        one.redis.stop();
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(asked::await)
                .satisfies(failure -> assertThat(failure.getReason()).isEqualTo(Reason.CLOSED));
        assertThat(free(other.store)).isEqualTo(2);
        one.redis.start();
        assertThat(isAdmitted(one, "alice")).isTrue();
    }

    /** Several instances can go on from one checkpoint. */
    @Test
    void callsAfterAStartHaveOtherNumbersThanThoseBefore() {
        long before = number();
        one.redis.stop();
        one.redis.start();
        assertThat(number()).isGreaterThan(before + 1_000_000);
    }

    private long number() {
        return one.permits
                .ask(List.of(new Charge(limit, "alice", 1)), List.of(new byte[0]))
                .get(0)
                .holder();
    }

    /** The reply comes when the instance stops, and the connections are closed after the stop. */
    @Test
    void stopWaitsForTheReleaseOfACallThatIsBeingDecided() throws InterruptedException {
        one.late = true;
        CompletableFuture<StoreOutcome> call = one.enterAsync(new Charge(limit, "alice", 2));
        Thread stop = new Thread(one.redis::stop);
        stop.start();
        await().until(() -> stop.getState() == Thread.State.TIMED_WAITING);
        one.answer();
        assertThat(call).isCompleted();
        assertThat(one.waiting()).as("the release").isOne();
        assertThat(stop.isAlive()).isTrue();
        one.answer();
        stop.join();
        assertThat(free(other.store)).isEqualTo(2);
    }

    @Test
    void permitsOfACallWhoseDecisionWasLostAreReleased() {
        one.silent = true;
        assertThat(CompletableFuture.supplyAsync(() -> enter(one, "alice")))
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitStoreException.class);
        one.silent = false;
        one.pass(Duration.ofSeconds(1));
        assertThat(free(other.store)).isEqualTo(2);
    }

    /** A failure that concerns the whole server would open it at once. */
    @Test
    void releaseThatFailsDoesNotOpenTheCircuitBreaker() {
        StoreOutcome call = enter(one, "alice");
        one.unreachable = true;
        release(call);
        one.unreachable = false;
        assertThat(isAdmitted(one, "bob")).isTrue();
    }

    @Test
    void releaseTellsOnlyOfPermitsThatACallWaitsFor() {
        RateLimit waiting = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(2)
                .maxWait(Duration.ofSeconds(1))
                .build();
        release(enter(one, "alice"));
        StoreOutcome first = enter(one, "alice");
        StoreOutcome second = enter(one, "alice");
        assertThat(one.told).isEmpty();
        other.enter(new Charge(waiting, "alice", 1));
        release(first);
        assertThat(one.told).containsExactly("exports alice");
        release(second);
        assertThat(one.told).hasSize(1);
    }

    @LongRunning
    @Test
    void releasesThatFailAreRepeatedSomeAtATime() {
        RateLimit many = TestLimits.concurrency("many", 2_000);
        List<StoreOutcome> calls = IntStream.range(0, 1_200)
                .mapToObj(i -> one.enter(new Charge(many, "alice", 1)))
                .toList();
        one.unreachable = true;
        calls.forEach(PermitReleaseTests::release);
        for (int i = 0; i < 3; i++) {
            one.scripts.clear();
            one.pass(Duration.ofMillis(500));
            assertThat(one.scripts).hasSizeBetween(1, PermitRenewals.IN_SCRIPT);
        }
        one.unreachable = false;
        one.pass(Duration.ofSeconds(2));
        assertThat(other.store
                        .decide(StoreRequest.peek(new Charge(many, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2_000);
        assertThat(one.thread.isIdle()).isFalse();
        one.pass(THIRD);
        assertThat(one.thread.isIdle()).isTrue();
    }

    @Test
    void nothingIsReleasedOfCallsThatWereNotSent() {
        enter(one, "alice");
        one.unreachable = true;
        for (int i = 0; i < 200; i++) {
            assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> enter(one, "alice"));
        }
        one.unreachable = false;
        one.scripts.clear();
        one.pass(Duration.ofSeconds(1));
        one.pass(Duration.ofSeconds(1));
        assertThat(one.scripts).hasSizeLessThan(50);
        assertThat(isAdmitted(one, "alice")).isTrue();
    }

    /** The next round of renewals is planned by then. */
    @Test
    void threadOfRenewalsEndsWithTheConnections() {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        ClassLoader applications = new ClassLoader(before) {};
        Thread.currentThread().setContextClassLoader(applications);
        GuardedRedis guarded;
        try {
            guarded = new GuardedRedis(one, Duration.ofSeconds(20), prefix);
            StoreRequest request = StoreRequest.refundable(List.of(new Charge(limit, "alice", 1)));
            assertThat(new RedisRateLimitStore(guarded, prefix)
                            .decide(request)
                            .await()
                            .isRejected())
                    .isFalse();
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
        assertThat(renews(applications)).isTrue();
        guarded.destroy();
        await().atMost(Duration.ofSeconds(5)).until(() -> !renews(applications));
    }

    private static boolean renews(ClassLoader applications) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getContextClassLoader() == applications
                        && thread.getName().equals("ratelimit-renewal"));
    }
}

package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.QueryTimeoutException;

/** Permits that calls of several instances hold in Redis: renewed by the living, freed after the dead. */
class PermitHoldersTests {

    private static final long SECOND = 1_000_000;

    private static final Duration THIRD = Duration.ofSeconds(10);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimit limit = TestLimits.concurrency("exports", 2);

    private final Instance one = new Instance();

    private final Instance other = new Instance();

    /** An instance of the application, whose background thread the test turns. */
    private final class Instance implements RateLimitScriptExecutor {

        private final RateLimitScriptExecutor executor = redis.executorAt(clock);

        private final HandTurnedThread thread = new HandTurnedThread();

        /** Finds out that Redis can be reached again. */
        private final HandTurnedThread probes = new HandTurnedThread();

        private final List<Integer> scripts = new ArrayList<>();

        private final List<String> told = new ArrayList<>();

        private boolean unreachable;

        private boolean silent;

        private final RedisRateLimitStore store = new RedisRateLimitStore(
                new GuardedRedis(this, Duration.ofSeconds(20), prefix, probes, probes::nanos),
                new BucketKeys(prefix),
                DirectDispatcher::new,
                (guarded, codec, dispatcher) -> new PermitHolders(guarded, codec, dispatcher, thread, thread::nanos));

        Instance() {
            store.onAwaitedRelease(charge -> told.add(charge.limit().id() + " " + charge.key()));
        }

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            scripts.add(keys.size());
            if (unreachable) {
                return CompletableFuture.failedFuture(new QueryTimeoutException("unreachable"));
            }
            List<Long> reply =
                    executor.execute(keys, arguments).toCompletableFuture().join();
            return silent
                    ? CompletableFuture.failedFuture(new QueryTimeoutException("silent"))
                    : CompletableFuture.completedFuture(reply);
        }

        @Override
        public CompletionStage<?> delete(byte[] key) {
            return executor.delete(key);
        }

        StoreOutcome enter(String key) {
            return enter(new Charge(limit, key, 1));
        }

        StoreOutcome enter(Charge charge) {
            return store.decide(StoreRequest.refundable(List.of(charge)));
        }

        boolean isAdmitted(String key) {
            return enter(key).decision().allowed();
        }

        /** Lets time pass for the server and this instance. */
        void pass(Duration time) {
            clock.advance(time.toNanos() / 1_000);
            probes.pass(time);
            thread.pass(time);
        }
    }

    private static void release(StoreOutcome call) {
        call.refund().refund(call.charges()).toCompletableFuture().join();
    }

    private long free(RateLimitStore store) {
        return store.peek(new Charge(limit, "alice", 0)).remaining();
    }

    @Test
    void permitsOfADeadInstanceAreFreeAfterTheHoldAndNotBefore() {
        one.enter("alice");
        clock.advance(5 * SECOND);
        one.enter("alice");
        clock.advance(25 * SECOND - 1);
        assertThat(other.isAdmitted("alice")).isFalse();
        clock.advance(1);
        assertThat(other.isAdmitted("alice")).isTrue();
        assertThat(other.isAdmitted("alice")).isFalse();
        clock.advance(5 * SECOND);
        assertThat(other.isAdmitted("alice")).isTrue();
    }

    @Test
    void permitsOfALivingInstanceAreHeldForAsLongAsTheCallRuns() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        for (int i = 0; i < 20; i++) {
            one.pass(THIRD);
            assertThat(other.isAdmitted("alice")).isFalse();
        }
        release(call);
        assertThat(free(other.store)).isEqualTo(2);
        assertThat(one.store.lostPermits()).isZero();
    }

    @Test
    void oneScriptRenewsAllPermitsOfAnInstance() {
        RateLimit many = TestLimits.concurrency("many", 10);
        IntStream.range(0, 900).forEach(i -> one.enter(new Charge(many, "key-" + i % 300, 1)));
        one.scripts.clear();
        one.pass(THIRD);
        assertThat(one.scripts).containsExactly(300);
        clock.advance(29 * SECOND);
        assertThat(other.store.peek(new Charge(many, "key-7", 0)).remaining()).isEqualTo(7);
        clock.advance(SECOND);
        assertThat(other.store.peek(new Charge(many, "key-7", 0)).remaining()).isEqualTo(10);
    }

    @Test
    void nothingIsRenewedAfterTheLastRelease() {
        release(one.enter("alice"));
        one.scripts.clear();
        one.pass(THIRD.multipliedBy(5));
        assertThat(one.scripts).isEmpty();
        assertThat(one.thread.isIdle()).isTrue();
    }

    @Test
    void instanceThatPausedForLongerThanTheHoldIsCountedAgain() {
        StoreOutcome paused = one.enter(new Charge(limit, "alice", 2));
        clock.advance(31 * SECOND);
        StoreOutcome next = other.enter("alice");
        assertThat(next.decision().allowed()).isTrue();
        one.thread.pass(THIRD);
        assertThat(one.store.lostPermits()).isEqualTo(2);
        release(next);
        assertThat(other.isAdmitted("alice")).isFalse();
        release(paused);
        assertThat(free(other.store)).isEqualTo(2);
    }

    @Test
    void permitsThatRedisHasLostAreCountedAgain() {
        StoreOutcome call = one.enter(new Charge(limit, "alice", 2));
        redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
        one.pass(THIRD);
        assertThat(other.isAdmitted("alice")).isFalse();
        assertThat(one.store.lostPermits()).isEqualTo(2);
        release(call);
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
    void permitsOfACallWhoseDecisionWasLostAreReleased() {
        one.silent = true;
        assertThat(CompletableFuture.supplyAsync(() -> one.enter("alice"))).failsWithin(Duration.ofSeconds(10));
        one.silent = false;
        one.pass(Duration.ofSeconds(1));
        assertThat(free(other.store)).isEqualTo(2);
    }

    /** A failure that concerns the whole server would open it at once. */
    @Test
    void releaseThatFailsDoesNotOpenTheCircuitBreaker() {
        StoreOutcome call = one.enter("alice");
        one.unreachable = true;
        release(call);
        one.unreachable = false;
        assertThat(one.isAdmitted("bob")).isTrue();
    }

    @Test
    void renewalThatFailsIsRepeatedSoon() {
        one.enter(new Charge(limit, "alice", 2));
        one.unreachable = true;
        one.pass(Duration.ofSeconds(25));
        one.unreachable = false;
        one.pass(Duration.ofSeconds(1));
        clock.advance(29 * SECOND);
        assertThat(other.isAdmitted("alice")).isFalse();
        clock.advance(SECOND);
        assertThat(other.isAdmitted("alice")).isTrue();
    }

    @Test
    void clockThatIsSetBackKeepsNothingForLongerThanTheHold() {
        one.enter(new Charge(limit, "alice", 2));
        clock.advance(-3_600 * SECOND);
        assertThat(other.isAdmitted("alice")).isFalse();
        clock.advance(30 * SECOND - 1);
        assertThat(other.isAdmitted("alice")).isFalse();
        clock.advance(1);
        assertThat(other.isAdmitted("alice")).isTrue();
    }

    @Test
    void releaseTellsOnlyOfPermitsThatACallWaitsFor() {
        RateLimit waiting = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(2)
                .maxWait(Duration.ofSeconds(1))
                .build();
        release(one.enter("alice"));
        StoreOutcome first = one.enter("alice");
        StoreOutcome second = one.enter("alice");
        assertThat(one.told).isEmpty();
        other.enter(new Charge(waiting, "alice", 1));
        release(first);
        assertThat(one.told).containsExactly("exports alice");
        release(second);
        assertThat(one.told).hasSize(1);
    }

    @Test
    void differentHoldsOfOneLimitAreKept() {
        RateLimit longer = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(2)
                .hold(Duration.ofSeconds(60))
                .build();
        one.enter(new Charge(longer, "alice", 1));
        other.enter("alice");
        clock.advance(30 * SECOND);
        assertThat(free(other.store)).isEqualTo(1);
        clock.advance(30 * SECOND);
        assertThat(free(other.store)).isEqualTo(2);
    }
}

package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.memory.ExactLeaseStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an instance takes in advance, hands out, and gives back. */
@Timeout(60)
class LeasingRateLimitStoreTests {

    private static final long SECOND = 1_000_000;

    private final TestClock clock = new TestClock();

    private final TrippingStore trips = new TrippingStore(new ExactLeaseStore(clock));

    private final List<LeasingRateLimitStore> instances = new ArrayList<>();

    private final LeasingRateLimitStore store = instance(10);

    private LeasingRateLimitStore instance(int mostBuckets) {
        LeasingRateLimitStore instance = new LeasingRateLimitStore(
                trips, () -> clock.micros() * 1_000, new ScheduledThreadPoolExecutor(1), mostBuckets);
        instances.add(instance);
        return instance;
    }

    @AfterEach
    void close() {
        instances.forEach(LeasingRateLimitStore::close);
    }

    private static RateLimit window(String name, long capacity, long lease) {
        return RateLimit.named(name)
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate(capacity + "/h")
                .lease(lease)
                .build();
    }

    private static RateLimitDecision take(RateLimitStore from, RateLimit limit, long permits) {
        return from.decide(List.of(new Charge(limit, "alice", permits))).get(0);
    }

    private void take(int calls, RateLimit limit) {
        for (int i = 0; i < calls; i++) {
            assertThat(take(store, limit, 1).allowed()).isTrue();
        }
    }

    private long used(RateLimit limit) {
        return limit.capacity() - trips.peek(new Charge(limit, "alice", 0)).remaining();
    }

    @Test
    void leasesGrowWithDemandUpToWhatIsConfigured() {
        RateLimit limit = window("quotes", 1_000, 10);
        take(60, limit);
        assertThat(trips.asked()).startsWith("1", "1+1", "1+2", "1+4", "1+8", "1+10", "1+10");
        assertThat(used(limit)).isBetween(60L, 70L);
    }

    @Test
    void keyThatIsUsedOnceCostsNoLease() {
        for (int i = 0; i < 5; i++) {
            store.decide(List.of(new Charge(window("quotes", 100, 10), "key" + i, 1)));
        }
        assertThat(trips.asked()).containsExactly("1", "1", "1", "1", "1");
    }

    @Test
    void limitWithoutALeaseIsTheStoresAlone() {
        RateLimit limit = TestLimits.fixedWindow("quotes", 100, "100/h");
        take(5, limit);
        assertThat(trips.asked()).containsExactly("1", "1", "1", "1", "1");
    }

    /** What was not used of a window is its loss: the next one begins with what was. */
    @Test
    void leasesComeDownToWhatWasUsed() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3 + 5 + 9 + 17 + 3, limit);
        assertThat(trips.asked()).endsWith("1+16", "1+32");
        clock.advance(Duration.ofHours(1));
        take(1, limit);
        assertThat(trips.asked()).endsWith("1+32", "1+2");
    }

    @Test
    void decisionFromStockSaysWhatIsLeftAndWhen() {
        RateLimit limit = window("quotes", 100, 10);
        take(1 + 2 + 1, limit);
        clock.advance(SECOND);
        assertThat(take(store, limit, 1))
                .isEqualTo(
                        new RateLimitDecision(true, 100, 95, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(3_599)));
    }

    @Test
    void permitsOfATokenBucketAreHandedOutUntilTheyBeginToComeBack() {
        RateLimit limit =
                RateLimit.named("quotes").capacity(100).rate("1/s").lease(10).build();
        take(1 + 2 + 1, limit);
        // Six are used then, and the last two of them are here.
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+2");
        clock.advance(4 * SECOND);
        take(1, limit);
        assertThat(trips.asked()).containsExactly("1", "1+1", "1+2");
        take(1, limit);
        assertThat(trips.asked()).as("the fifth has begun to come back").hasSize(4);
    }

    @Test
    void idleLeaseGoesBackAndIsForgotten() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3 + 5 + 1, limit);
        assertThat(used(limit)).isEqualTo(20);
        store.giveBackIdle();
        assertThat(used(limit)).as("used since the last look").isEqualTo(20);
        store.giveBackIdle();
        assertThat(used(limit)).isEqualTo(12);
        take(1, limit);
        assertThat(trips.asked()).as("from the beginning").endsWith("1+8", "1");
    }

    @Test
    void whateverIsLeftGoesBackAtTheEndAndNothingIsLeasedAfterIt() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3 + 5 + 1, limit);
        store.giveBackAll(Duration.ofSeconds(20));
        assertThat(used(limit)).isEqualTo(12);
        take(5, limit);
        assertThat(used(limit)).isEqualTo(17);
        assertThat(trips.asked()).endsWith("1", "1", "1", "1", "1");
        store.resume();
        take(3, limit);
        assertThat(trips.asked()).endsWith("1", "1+1");
    }

    /** An instance that has nothing is not told of what others have: that many permits, and no more, it misses. */
    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "TOKEN_BUCKET_BY_INTERVALS", "FIXED_WINDOW", "SLIDING_WINDOW"})
    void noMoreIsKeptFromOthersThanTheLeasesOfTheOthers(LimitKind kind) {
        RateLimit limit = RateLimit.named("quotes")
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .rate("1000/h")
                .lease(16)
                .build();
        clock.set(TestClock.TODAY - TestClock.TODAY % (3_600 * SECOND));
        List<LeasingRateLimitStore> others = List.of(store, instance(10), instance(10));
        long admitted = 0;
        for (LeasingRateLimitStore other : others) {
            for (int call = 0; call < 50; call++) {
                admitted += take(other, limit, 1).allowed() ? 1 : 0;
            }
        }
        assertThat(admitted).isEqualTo(150);
        long missed = limit.capacity() - admitted;
        while (take(trips, limit, 1).allowed()) {
            missed--;
        }
        assertThat(missed).isPositive().isLessThanOrEqualTo(3 * 16);
        for (LeasingRateLimitStore other : others) {
            while (take(other, limit, 1).allowed()) {
                missed--;
            }
        }
        assertThat(missed).as("handed out in the end").isZero();
    }

    @Test
    void manyThreadsHandOutEachPermitOnce() throws Exception {
        RateLimit limit = window("quotes", 20_000, 100);
        long allowed = ParallelCalls.countAllowed(
                8, 5_000, thread -> () -> take(store, limit, 1).allowed());
        // The last of them may come back too late for anybody.
        assertThat(allowed).isBetween(19_900L, 20_000L);
        assertThat(trips.asked()).hasSizeLessThan(39_000);
    }

    @Test
    void callsWaitForALeaseThatHasPermitsForThem() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(store.decideAsync(List.of(new Charge(limit, "alice", 1))).toCompletableFuture());
        }
        assertThat(trips.asked()).as("one asks, four wait, one is too much").endsWith("1+2", "1+4", "1");
        answer.complete(null);
        assertThat(calls).allMatch(CompletableFuture::isDone);
        assertThat(trips.asked()).endsWith("1+2", "1+4", "1");
    }

    @Test
    void failureIsThatOfAllWhoWaitForTheLease() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        CompletionStage<?> asks = store.decideAsync(List.of(new Charge(limit, "alice", 1)));
        CompletionStage<?> waits = store.decideAsync(List.of(new Charge(limit, "alice", 1)));
        answer.completeExceptionally(new RateLimitStoreException(Reason.TIMEOUT, "late", null));
        assertThat(asks.toCompletableFuture()).isCompletedExceptionally();
        assertThat(waits.toCompletableFuture()).isCompletedExceptionally();
        trips.fail = true;
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> take(store, limit, 1));
    }

    @Test
    void stockIsHandedOutWhileTheStoreFails() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3 + 1, limit);
        trips.fail = true;
        take(4, limit);
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> take(store, limit, 1));
        trips.fail = false;
        take(1, limit);
    }

    @Test
    void callThatNeedsMoreThanThereIsLeavesNothingBehind() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3 + 1, limit);
        assertThat(used(limit)).isEqualTo(11);
        assertThat(take(store, limit, 7).allowed()).isTrue();
        assertThat(trips.asked()).endsWith("7+8");
        assertThat(used(limit)).isEqualTo(7 + 7 + 8);
    }

    @Test
    void resetDropsWhatIsLeased() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3 + 1, limit);
        store.reset(limit, "alice");
        assertThat(used(limit)).isZero();
        take(1, limit);
        assertThat(used(limit)).isEqualTo(1);
    }

    @Test
    void leaseThatComesAfterAResetIsDropped() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        CompletionStage<?> call = store.decideAsync(List.of(new Charge(limit, "alice", 1)));
        store.reset(limit, "alice");
        answer.complete(null);
        assertThat(call.toCompletableFuture()).isCompleted();
        int before = trips.asked().size();
        take(1, limit);
        assertThat(trips.asked()).hasSize(before + 1);
    }

    @Test
    void leaseThatComesAfterTheEndGoesBack() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        CompletionStage<?> call = store.decideAsync(List.of(new Charge(limit, "alice", 1)));
        store.giveBackAll(Duration.ZERO);
        answer.complete(null);
        assertThat(call.toCompletableFuture()).isCompleted();
        assertThat(used(limit)).isEqualTo(7);
    }

    @Test
    void bucketsBeyondTheBoundGoWithoutLeases() {
        LeasingRateLimitStore small = instance(1);
        RateLimit limit = window("quotes", 1_000, 100);
        for (String key : List.of("alice", "alice", "bob", "bob", "alice", "bob")) {
            small.decide(List.of(new Charge(limit, key, 1)));
        }
        assertThat(trips.asked()).containsExactly("1", "1+1", "1", "1", "1");
        small.giveBackIdle();
        small.giveBackIdle();
        small.decide(List.of(new Charge(limit, "bob", 1)));
        small.decide(List.of(new Charge(limit, "bob", 1)));
        assertThat(trips.asked()).endsWith("1", "1+1");
    }

    @Test
    void severalLimitsAreTakenFromStockTogether() {
        RateLimit one = window("one", 1_000, 100);
        RateLimit other = window("other", 1_000, 100);
        take(1 + 2 + 3 + 1, one);
        take(1 + 2 + 3 + 1, other);
        int before = trips.asked().size();
        List<Charge> both = List.of(new Charge(one, "alice", 1), new Charge(other, "alice", 2));
        assertThat(store.decide(both)).extracting(RateLimitDecision::remaining).containsExactly(1_000L - 8, 1_000L - 9);
        assertThat(trips.asked()).hasSize(before);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.decide(List.of(new Charge(one, "alice", 1), new Charge(one, "alice", 2))));
    }

    @Test
    void whatOneLimitHasTakenFromStockGoesBackToItIfAnotherRejects() {
        RateLimit leased = window("leased", 1_000, 100);
        RateLimit tight = TestLimits.fixedWindow("tight", 1, "1/h");
        take(1 + 2 + 3 + 1, leased);
        RateLimit leasedTrial = dryRun();
        take(1 + 2 + 3 + 1, leasedTrial);
        List<Charge> all = List.of(
                new Charge(leased, "alice", 1), new Charge(leasedTrial, "alice", 1), new Charge(tight, "alice", 1));
        assertThat(store.decide(all)).extracting(RateLimitDecision::allowed).containsExactly(true, true, true);
        assertThat(store.decide(all)).extracting(RateLimitDecision::allowed).containsExactly(true, true, false);
        store.giveBackAll(Duration.ofSeconds(20));
        assertThat(used(leased)).isEqualTo(7 + 1);
        assertThat(used(leasedTrial)).as("in dry run").isEqualTo(7 + 2);
    }

    @Test
    void whatWasTakenFromStockGoesBackToItIfTheStoreFails() {
        RateLimit leased = window("leased", 1_000, 100);
        take(1 + 2 + 3 + 1, leased);
        trips.fail = true;
        List<Charge> both = List.of(
                new Charge(leased, "alice", 1), new Charge(TestLimits.fixedWindow("other", 1, "1/h"), "alice", 1));
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> store.decide(both));
        trips.fail = false;
        store.giveBackAll(Duration.ofSeconds(20));
        assertThat(used(leased)).isEqualTo(7);
    }

    @Test
    void refundOfPermitsFromStockGoesBackToItOnce() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3 + 1, limit);
        Charge charge = new Charge(limit, "alice", 1);
        RefundableDecisions decided =
                store.decideRefundably(List.of(charge)).toCompletableFuture().join();
        int before = trips.asked().size();
        decided.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        decided.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        take(4, limit);
        assertThat(trips.asked()).hasSize(before);
        assertThat(used(limit)).isEqualTo(11);
        take(1, limit);
        assertThat(trips.asked()).hasSize(before + 1);
    }

    @Test
    void refundOfALeaseThatIsOverGoesBackToTheStore() {
        RateLimit limit = window("quotes", 1_000, 100);
        take(1 + 2 + 3, limit);
        Charge charge = new Charge(limit, "alice", 1);
        RefundableDecisions asked =
                store.decideRefundably(List.of(charge)).toCompletableFuture().join();
        RefundableDecisions fromStock =
                store.decideRefundably(List.of(charge)).toCompletableFuture().join();
        store.giveBackAll(Duration.ofSeconds(20));
        assertThat(used(limit)).isEqualTo(8);
        asked.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        assertThat(used(limit))
                .as("the call that took the lease may have opened the window, which goes on")
                .isEqualTo(8);
        fromStock.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        fromStock.refund().giveBack(List.of(charge)).toCompletableFuture().join();
        assertThat(used(limit)).isEqualTo(7);
    }

    private static RateLimit dryRun() {
        return RateLimit.named("trial")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("1000/h")
                .lease(100)
                .apply(new RateLimitSettings(true, OnStoreFailure.LOCAL, Map.of()))
                .build();
    }

    /** Remembers what it was asked for, each call in a word, and answers when and if it is told to. */
    private static final class TrippingStore implements RateLimitStore {

        private final RateLimitStore store;

        private final List<String> asked = new ArrayList<>();

        private CompletableFuture<Void> held = CompletableFuture.completedFuture(null);

        private volatile boolean fail;

        TrippingStore(RateLimitStore store) {
            this.store = store;
        }

        synchronized List<String> asked() {
            return List.copyOf(asked);
        }

        /** Has the next answer wait. */
        CompletableFuture<Void> hold() {
            held = new CompletableFuture<>();
            return held;
        }

        private synchronized CompletionStage<Void> ask(String what) {
            if (fail) {
                throw new RateLimitStoreException(Reason.ERROR, "down", null);
            }
            asked.add(what);
            CompletionStage<Void> answer = held;
            held = CompletableFuture.completedFuture(null);
            return answer;
        }

        @Override
        public List<RateLimitDecision> decide(List<Charge> charges) {
            return decideAsync(charges).toCompletableFuture().join();
        }

        @Override
        public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
            return ask("" + charges.get(0).permits()).thenCompose(now -> store.decideAsync(charges));
        }

        @Override
        public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
            return ask("" + charges.get(0).permits()).thenCompose(now -> store.decideRefundably(charges));
        }

        @Override
        public CompletionStage<Lease> lease(Charge charge, long more) {
            return ask(charge.permits() + "+" + more).thenCompose(now -> store.lease(charge, more));
        }

        @Override
        public RateLimitDecision peek(Charge charge) {
            return store.peek(charge);
        }

        @Override
        public void reset(RateLimit limit, String key) {
            store.reset(limit, key);
        }
    }
}

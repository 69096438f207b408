package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a call has taken can be refunded, once. A twin is a limit of the same numbers that the call never saw. */
public abstract class RefundContract extends StoreContract {

    private static final long CAPACITY = 6;

    private static final int THREADS = 6;

    private final RateLimit one = TestLimits.fixedWindow("one", 1, "1/h");

    private static RateLimit six(LimitKind kind) {
        return kind.limit("six", CAPACITY, "3/6s");
    }

    private static RateLimit twin(LimitKind kind) {
        return kind.limit("twin", CAPACITY, "3/6s");
    }

    private static Charge charge(RateLimit limit, long permits) {
        return new Charge(limit, KEY, permits);
    }

    private StoreOutcome takeRefundably(Charge... charges) {
        return store.decide(StoreRequest.refundable(List.of(charges)))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    private static void refund(StoreOutcome taken, Charge... charges) {
        taken.refund().refund(List.of(charges)).toCompletableFuture().join();
    }

    private void assertTwins(LimitKind kind) {
        for (long permits : new long[] {0, 1, CAPACITY / 2 + 1, CAPACITY}) {
            assertThat(peek(six(kind), permits)).as("%s permits", permits).isEqualTo(peek(twin(kind), permits));
        }
    }

    private void takeOfBoth(LimitKind kind, long permits) {
        assertThat(take(six(kind), permits).allowed()).isTrue();
        take(twin(kind), permits);
    }

    @ParameterizedTest
    @EnumSource
    void decidesAsWithoutARefund(LimitKind kind) {
        for (long permits : new long[] {0, 4, CAPACITY + 1, 4, 1, 2}) {
            List<RateLimitDecision> decisions =
                    takeRefundably(charge(six(kind), permits)).decisions();
            assertThat(decisions).containsExactly(take(twin(kind), permits));
            clock.advance(SECOND);
        }
        assertTwins(kind);
    }

    @ParameterizedTest
    @EnumSource
    void refundedAtOnceItIsAsIfNeverTaken(LimitKind kind) {
        takeOfBoth(kind, 3);
        clock.advance(SECOND);
        Charge charge = charge(six(kind), 3);
        StoreOutcome taken = takeRefundably(charge);
        assertThat(remaining(six(kind))).isLessThan(remaining(twin(kind)));
        refund(taken, charge);
        for (int look = 0; look < 8; look++) {
            assertTwins(kind);
            clock.advance(2 * SECOND - 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatOthersTookSinceIsTheirs(LimitKind kind) {
        Charge charge = charge(six(kind), 2);
        StoreOutcome taken = takeRefundably(charge);
        takeOfBoth(kind, 3);
        refund(taken, charge);
        assertTwins(kind);
        clock.advance(SECOND);
        assertTwins(kind);
    }

    @ParameterizedTest
    @EnumSource
    void refundTwiceIsOnce(LimitKind kind) {
        Charge charge = charge(six(kind), 2);
        StoreOutcome taken = takeRefundably(charge);
        takeOfBoth(kind, 4);
        refund(taken, charge, charge);
        assertTwins(kind);
        refund(taken, charge);
        assertTwins(kind);
        refund(taken);
        assertTwins(kind);
    }

    @ParameterizedTest
    @EnumSource
    void refundByManyThreadsIsOnce(LimitKind kind) throws Exception {
        for (int round = 0; round < 10; round++) {
            Charge charge = charge(six(kind), 1);
            StoreOutcome taken = takeRefundably(charge);
            takeOfBoth(kind, 5);
            ParallelCalls.countAllowed(THREADS, 1, thread -> () -> {
                refund(taken, charge);
                return true;
            });
            assertTwins(kind);
            store.change(six(kind), KEY, BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
            store.change(twin(kind), KEY, BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsLeftOfManyThreadsCallsThatAreAllRefunded(LimitKind kind) throws Exception {
        RateLimit other = kind.limit("other", CAPACITY, "3/6s");
        takeOfBoth(kind, 1);
        long admitted = ParallelCalls.countAllowed(THREADS, 40, thread -> {
            Charge[] charges = thread % 2 == 0
                    ? new Charge[] {charge(six(kind), 1)}
                    : new Charge[] {charge(other, 1), charge(six(kind), 1)};
            return () -> {
                StoreOutcome taken = takeRefundably(charges);
                refund(taken, charges);
                return taken.decisions().get(0).allowed();
            };
        });
        assertThat(admitted).isPositive();
        assertTwins(kind);
        assertThat(peek(other, 0).resetAfter()).isZero();
    }

    /** Of a window that opens with a call, or a batch, the first of them is not refunded first. */
    @ParameterizedTest
    @EnumSource
    void callsUnderWayAtOnceAreRefundedInAnyOrder(LimitKind kind) {
        Random random = TestRandom.create(getClass());
        for (int round = 0; round < 20; round++) {
            store.change(six(kind), KEY, BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
            List<StoreOutcome> calls = new ArrayList<>();
            Charge charge = charge(six(kind), 1);
            for (int call = 0; call < 5; call++) {
                calls.add(takeRefundably(charge));
                clock.advance(1);
            }
            clock.advance(random.nextLong(2 * SECOND - 10));
            Collections.shuffle(calls, random);
            calls.forEach(call -> refund(call, charge));
            assertTwins(kind);
        }
    }

    /** One permit comes back in two seconds, three in six; a window has twelve. */
    @ParameterizedTest
    @EnumSource
    void whatIsBackByItselfIsNotRefundedAgain(LimitKind kind) {
        Charge charge = charge(six(kind), CAPACITY);
        StoreOutcome taken = takeRefundably(charge);
        clock.advance(peek(six(kind), 0).resetAfter());
        takeOfBoth(kind, 4);
        refund(taken, charge);
        assertTwins(kind);
        clock.advance(3 * SECOND);
        assertTwins(kind);
    }

    @ParameterizedTest
    @EnumSource
    void ofWhatIsPartlyBackTheRestIsRefunded(LimitKind kind) {
        Charge charge = charge(six(kind), CAPACITY);
        StoreOutcome taken = takeRefundably(charge);
        clock.advance(7 * SECOND);
        refund(taken, charge);
        assertTwins(kind);
        takeOfBoth(kind, CAPACITY);
        assertTwins(kind);
    }

    /** Others' slots behind it move up. */
    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET_WITH_WAIT", "LEAKY_BUCKET", "LEAKY_BUCKET_WITH_WAIT"})
    void slotIsRefunded(LimitKind kind) {
        RateLimit six = kind.limit("six", CAPACITY, "3/s");
        RateLimit twin = kind.limit("twin", CAPACITY, "3/s");
        take(six, CAPACITY - 1);
        take(twin, CAPACITY - 1);
        Charge charge = charge(six, kind.waits() ? 2 : 1);
        StoreOutcome taken = takeRefundably(charge);
        assertThat(taken.decisions().get(0).delay()).isPositive();
        refund(taken, charge);
        assertThat(take(six, 1)).isEqualTo(take(twin, 1));
        assertThat(take(six, 1)).isEqualTo(take(twin, 1));
    }

    @ParameterizedTest
    @EnumSource
    void ofSeveralLimitsOneIsRefunded(LimitKind kind) {
        List<Charge> charges = Stream.of("a", "b", "c")
                .map(name -> charge(kind.limit(name, CAPACITY, "3/6s"), 2))
                .toList();
        StoreOutcome taken = takeRefundably(charges.toArray(Charge[]::new));
        refund(taken, charges.get(1));
        assertThat(charges).extracting(charge -> remaining(charge.limit())).containsExactly(4L, 6L, 4L);
        refund(taken, charges.toArray(Charge[]::new));
        assertThat(charges).extracting(charge -> remaining(charge.limit())).containsExactly(6L, 6L, 6L);
    }

    @ParameterizedTest
    @EnumSource
    void whatWasRejectedOrFreeHasNothingToRefund(LimitKind kind) {
        takeOfBoth(kind, 4);
        take(one, 1);
        for (long permits : new long[] {0, 2, 4, CAPACITY + 1, Long.MAX_VALUE}) {
            Charge charge = charge(six(kind), permits);
            StoreOutcome rejected = takeRefundably(charge(one, 1), charge);
            refund(rejected, charge, charge(one, 1));
            assertTwins(kind);
            assertThat(remaining(one)).isZero();
        }
        Charge free = charge(six(kind), 0);
        refund(takeRefundably(free), free);
        assertTwins(kind);
    }

    @Test
    void whatIsNotOfTheCallHasNothingToRefund() {
        take(one, 1);
        Charge charge = charge(six(LimitKind.TOKEN_BUCKET), 1);
        refund(takeRefundably(charge), charge(one, 1), charge(charge.limit(), 2));
        assertThat(remaining(one)).isZero();
        assertThat(remaining(charge.limit())).isEqualTo(5);
    }

    /** It is charged even where another limit rejects. */
    @ParameterizedTest
    @EnumSource
    void limitInDryRunIsRefunded(LimitKind kind) {
        takeOfBoth(kind, 1);
        take(one, 1);
        Charge trial = charge(TestLimits.dryRun(six(kind)), 2);
        StoreOutcome taken = takeRefundably(trial, charge(one, 1));
        assertThat(taken.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, false);
        assertThat(remaining(six(kind))).isEqualTo(3);
        refund(taken, trial);
        assertTwins(kind);
    }

    @ParameterizedTest
    @EnumSource
    void bucketThatWasResetHasNothingToRefund(LimitKind kind) {
        Charge charge = charge(six(kind), 4);
        StoreOutcome taken = takeRefundably(charge);
        store.change(six(kind), KEY, BucketChange.RESET).toCompletableFuture().join();
        refund(taken, charge);
        assertTwins(kind);
    }

    /** Whether that is noticed or not, no call gets more than there is. */
    @ParameterizedTest
    @EnumSource
    void bucketThatWasResetAndIsUsedAgainStaysInItsBounds(LimitKind kind) {
        Charge charge = charge(six(kind), 4);
        StoreOutcome taken = takeRefundably(charge);
        clock.advance(1);
        store.change(six(kind), KEY, BucketChange.RESET).toCompletableFuture().join();
        take(six(kind), 1);
        refund(taken, charge);
        assertThat(remaining(six(kind))).isBetween(5L, 6L);
        assertThat(take(six(kind), 5).allowed()).isTrue();
        assertThat(remaining(six(kind))).isBetween(0L, 1L);
    }

    @ParameterizedTest
    @EnumSource
    void limitThatChangedSinceIsRefundedByBothRules(LimitKind kind) {
        RateLimit twelve = kind.limit("six", 12, "3/6s");
        Charge charge = charge(six(kind), 2);
        StoreOutcome taken = takeRefundably(charge);
        take(twelve, 1);
        refund(taken, charge);
        assertThat(remaining(six(kind))).isEqualTo(5);
        assertThat(remaining(twelve)).isEqualTo(11);
    }

    /** If it had begun to count by a refund, all would be back by its own memory. */
    @ParameterizedTest
    @EnumSource
    void ruleThatWasPushedOutHasNothingToRefundAndDoesNotBeginToCount(LimitKind kind) {
        Charge charge = charge(six(kind), 2);
        StoreOutcome taken = takeRefundably(charge);
        for (long capacity = 7; capacity <= 9; capacity++) {
            take(TestLimits.fixedWindow("six", capacity, "6/h"), 1);
        }
        refund(taken, charge);
        clock.advance(30 * SECOND);
        assertThat(remaining(six(kind))).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void bucketThatIsOnlyAnotherRulesByNowHasNothingToRefund(LimitKind kind) {
        Charge charge = charge(six(kind), 2);
        StoreOutcome taken = takeRefundably(charge);
        store.change(six(kind), KEY, BucketChange.RESET).toCompletableFuture().join();
        take(TestLimits.fixedWindow("six", 12, "6/h"), 1);
        refund(taken, charge);
        clock.advance(30 * SECOND);
        assertThat(remaining(six(kind))).isEqualTo(5);
    }

    @Test
    void logThatWasPushedOutLeavesItsEntryToAnother() {
        Charge charge = charge(six(LimitKind.SLIDING_WINDOW_LOG), 2);
        RateLimit other = LimitKind.SLIDING_WINDOW_LOG.limit("six", 12, "6/6s");
        StoreOutcome taken = takeRefundably(charge);
        take(other, 1);
        take(TestLimits.fixedWindow("six", 12, "6/h"), 1);
        clock.advance(SECOND);
        take(TestLimits.fixedWindow("six", 24, "6/h"), 1);
        refund(taken, charge);
        assertThat(remaining(other)).isEqualTo(7);
        clock.advance(11 * SECOND);
        assertThat(remaining(other)).isEqualTo(11);
    }
}

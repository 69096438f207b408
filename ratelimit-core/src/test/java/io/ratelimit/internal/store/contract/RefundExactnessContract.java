package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was taken for a moment and refunded does not show. */
@BothTiers
public abstract class RefundExactnessContract extends StoreContract {

    /** Of the limits below: a permit's, a batch's, a window's. */
    private static final long[] EDGES = {0, 2 * SECOND, 6 * SECOND, 12 * SECOND, 24 * SECOND};

    private static final int HISTORIES = TestRandom.cases(150);

    private static RateLimit six(LimitKind kind) {
        return kind.limit("six", 6, "3/6s");
    }

    /** A sliding window's begins. */
    @BeforeEach
    void setClock() {
        clock.set(TestClock.TODAY - TestClock.TODAY % (12 * SECOND));
    }

    private BucketTwins newTwins() {
        return new BucketTwins(store, clock);
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsLeftOfItAtAnyEdge(LimitKind kind) {
        for (long before : new long[] {0, 1, 4}) {
            for (long wait : new long[] {0, 5 * SECOND, 12 * SECOND - 1}) {
                for (long edge : EDGES) {
                    for (long aside = edge == 0 ? 0 : -1; aside <= 1; aside++) {
                        takeAndRefund(six(kind), before, wait, edge + aside);
                    }
                }
            }
        }
    }

    private void takeAndRefund(RateLimit limit, long before, long wait, long moment) {
        setClock();
        BucketTwins twins = newTwins();
        twins.take(limit, before);
        clock.advance(wait);
        assertThat(twins.takeForAMoment(limit, 2)).isTrue();
        clock.advance(moment);
        twins.refund();
        twins.assertAlike(limit);
        clock.advance(3 * SECOND);
        twins.assertAlike(limit);
    }

    @ParameterizedTest
    @EnumSource
    void whatIsBackByItselfIsNotRefundedAgain(LimitKind kind) {
        RateLimit limit = six(kind);
        for (int times = 1; times <= 3; times++) {
            BucketTwins twins = newTwins();
            twins.takeForAMoment(limit, 2);
            clock.advance(times * twins.resetMicros(limit));
            twins.take(limit, 4);
            twins.assertAlike(limit);
            clock.advance(1);
            twins.refund();
            twins.assertAlike(limit);
            clock.advance(2 * SECOND);
            twins.assertAlike(limit);
        }
    }

    @ParameterizedTest
    @EnumSource
    void othersBeginToComeBackWhenItIsRefunded(LimitKind kind) {
        RateLimit limit = six(kind);
        BucketTwins twins = newTwins();
        twins.takeForAMoment(limit, 2);
        clock.advance(1);
        twins.take(limit, 3);
        clock.advance(1);
        twins.refund();
        for (int i = 0; i < 8; i++) {
            twins.assertNothingIsGiven(limit, 0);
            clock.advance(2 * SECOND - 1);
        }
    }

    /** What was there before is back in the first batch, what is refunded would be in the second. */
    @Test
    void othersDoNotComeBackInABatchThatWasNotTheirs() {
        RateLimit limit = six(LimitKind.TOKEN_BUCKET_BY_INTERVALS);
        BucketTwins twins = newTwins();
        twins.take(limit, 3);
        clock.advance(5 * SECOND);
        twins.takeForAMoment(limit, 3);
        clock.advance(4 * SECOND);
        twins.take(limit, 3);
        clock.advance(SECOND);
        twins.refund();
        for (int i = 0; i < 7; i++) {
            twins.assertNothingIsGiven(limit, 0);
            clock.advance(SECOND);
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsLeftOfItWhateverCameBefore(LimitKind kind) {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < HISTORIES; i++) {
            RateLimit limit = randomLimit(random, kind);
            BucketTwins twins = usedTwins(random, limit);
            if (twins.takeForAMoment(limit, 1 + random.nextLong(limit.capacity()))) {
                clock.advance(random.nextLong(2 * limit.fullMicros()));
                twins.refund();
                for (int look = 0; look < 3; look++) {
                    twins.assertAlike(limit);
                    clock.advance(random.nextLong(limit.fullMicros()));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsGivenWhoeverCameInBetween(LimitKind kind) {
        Random random = TestRandom.create(getClass());
        boolean exact = kind == LimitKind.SLIDING_WINDOW || kind == LimitKind.SLIDING_WINDOW_LOG;
        for (int i = 0; i < HISTORIES; i++) {
            RateLimit limit = randomLimit(random, kind);
            long period =
                    Math.min(limit.fullMicros(), TestClock.inMicros(limit.rate().period()));
            BucketTwins twins = usedTwins(random, limit);
            if (twins.takeForAMoment(limit, 1 + random.nextLong(limit.capacity()))) {
                for (int other = 0; other < 3; other++) {
                    clock.advance(random.nextLong(period / 4));
                    twins.take(limit, 1 + random.nextLong(limit.capacity()));
                }
                clock.advance(random.nextLong(period / 4));
                twins.refund();
                for (int look = 0; look < 4 && !twins.cameTooLate(); look++) {
                    // Theirs may have missed a batch that without us they would have been in.
                    twins.assertNothingIsGiven(limit, kind == LimitKind.TOKEN_BUCKET_BY_INTERVALS ? period : 0);
                    if (exact) {
                        twins.assertAlike(limit);
                    }
                    clock.advance(random.nextLong(limit.fullMicros() / 2));
                }
            }
        }
    }

    private static RateLimit randomLimit(Random random, LimitKind kind) {
        long capacity = 1 + random.nextLong(12);
        long permits = kind == LimitKind.TOKEN_BUCKET_BY_INTERVALS ? 1 + random.nextLong(capacity) : capacity;
        return kind.limit("random", capacity, permits + "/" + (1 + random.nextInt(7)) + "s");
    }

    private BucketTwins usedTwins(Random random, RateLimit limit) {
        BucketTwins twins = newTwins();
        for (int before = 0; before < 4; before++) {
            twins.take(limit, random.nextLong(limit.capacity() + 1));
            clock.advance(random.nextLong(limit.fullMicros() / 2));
        }
        return twins;
    }
}

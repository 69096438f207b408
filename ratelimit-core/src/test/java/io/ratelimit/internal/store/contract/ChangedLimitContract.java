package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.fixedWindow;
import static io.ratelimit.testing.TestLimits.tokenBucket;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.testing.LimitKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A limit's numbers change while it is in use: what was consumed stays consumed, and nothing is given for free. */
public abstract class ChangedLimitContract extends StoreContract {

    private final RateLimit ten = tokenBucket("changing", 10, "10/h");

    @ParameterizedTest
    @EnumSource
    void raisedCapacityAddsOnlyTheDifference(LimitKind kind) {
        take(kind.limit("raised", 10, "10/h"), 8);
        RateLimit raised = kind.limit("raised", 100, "10/h");
        assertThat(remaining(raised)).isEqualTo(92);
        assertThat(take(raised, 92).delay()).isEqualTo(kind.spaces() ? ofMinutes(48) : ZERO);
        assertThat(take(raised, 1).allowed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void loweredCapacityLeavesWhatIsLeftOfIt(LimitKind kind) {
        take(kind.limit("lowered", 10, "10/h"), 3);
        RateLimit lowered = kind.limit("lowered", 5, "10/h");
        assertThat(remaining(lowered)).isEqualTo(2);
        assertThat(take(lowered, 3).allowed()).isFalse();
        assertThat(take(lowered, 2).allowed()).isTrue();
        assertThat(take(lowered, 1).allowed()).isFalse();
    }

    @Test
    void permitThatIsPartlyBackStaysSoWhereThePaceIsTheSame() {
        take(ten, 5);
        clock.advance(HOUR / 20);
        assertThat(take(tokenBucket("changing", 5, "10/h"), 1).retryAfter()).isEqualTo(ofMinutes(3));
    }

    @Test
    void permitThatIsPartlyBackIsSoByAnotherRate() {
        take(ten, 5);
        clock.advance(HOUR / 20);
        RateLimit slower = tokenBucket("changing", 5, "5/h");
        assertThat(take(slower, 1).retryAfter())
                .isBetween(ofMinutes(6), ofMinutes(6).plusNanos(1_000));
        clock.advance(HOUR / 10 + 1);
        assertThat(take(slower, 1).allowed()).isTrue();
    }

    @Test
    void rateThatChangesInLessThanTheTimeOfAPermitDoesNotStall() {
        int admitted = 0;
        for (int change = 0; change < 300; change++) {
            RateLimit limit = tokenBucket("changing", 3, 60 + change % 40 + "/20m");
            admitted += take(limit, 1).allowed() ? 1 : 0;
            clock.advance(5 * SECOND);
        }
        // 3 at first, and in 1,500 seconds one every 12 to 20.
        assertThat(admitted).isBetween(3 + 1_500 / 20, 3 + 1_500 / 12);
    }

    @Test
    void fixedWindowEndsWhenItWasToEnd() {
        take(fixedWindow("changing", 10, "10/h"), 10);
        clock.advance(HOUR / 4);
        RateLimit larger = fixedWindow("changing", 20, "20/h");
        assertThat(peek(larger, 11)).isEqualTo(rejected(20, 10, ofMinutes(45), ofMinutes(45)));
    }

    /** Of the longer window it is not known when in it they were taken. */
    @Test
    void whatWasTakenLateInALongerWindowIsNotBackSoonInAShorterOne() {
        RateLimit hour = fixedWindow("changing", 100, "100/h");
        take(hour, 1);
        clock.advance(HOUR / 2);
        take(hour, 99);
        clock.advance(SECOND);
        RateLimit minute = fixedWindow("changing", 100, "100/m");
        assertThat(take(minute, 1)).isEqualTo(rejected(100, 0, ofMinutes(1), ofMinutes(1)));
        clock.advance(60 * SECOND - 1);
        assertThat(take(minute, 1).allowed()).isFalse();
        clock.advance(1);
        assertThat(take(minute, 100).allowed()).isTrue();
    }

    @Test
    void logKeepsItsEntries() {
        RateLimit log = LimitKind.SLIDING_WINDOW_LOG.limit("changing", 10, "10/h");
        take(log, 4);
        clock.advance(HOUR / 4);
        take(log, 4);
        clock.advance(HOUR / 4);
        RateLimit smaller = LimitKind.SLIDING_WINDOW_LOG.limit("changing", 5, "5/h");
        // Of the older four one counts, and it is back in half an hour.
        assertThat(take(smaller, 1)).isEqualTo(rejected(5, 0, ofMinutes(30), ofMinutes(45)));
        assertThat(take(smaller, 2)).isEqualTo(rejected(5, 0, ofMinutes(45), ofMinutes(45)));
    }

    @Test
    void aSecondLogHasTheEntriesOfTheFirstWhateverWasUsedBetween() {
        RateLimit first = LimitKind.SLIDING_WINDOW_LOG.limit("changing", 10, "10/h");
        RateLimit second = LimitKind.SLIDING_WINDOW_LOG.limit("changing", 20, "20/h");
        take(first, 3);
        clock.advance(HOUR / 6);
        take(ten, 1);
        clock.advance(HOUR / 6);
        assertThat(take(second, 1).remaining()).isEqualTo(15);
        clock.advance(HOUR * 4 / 6);
        assertThat(remaining(first)).isEqualTo(8);
        assertThat(remaining(second)).isEqualTo(18);
        clock.advance(HOUR / 6);
        assertThat(take(first, 9).allowed()).isTrue();
        assertThat(remaining(second)).isEqualTo(10);
    }

    @Test
    void capacityBelowWhatIsUsedIsAnEmptyBucket() {
        take(ten, 8);
        RateLimit five = tokenBucket("changing", 5, "5/h");
        assertThat(peek(five, 1)).isEqualTo(rejected(5, 0, ofHours(1).dividedBy(5), ofHours(1)));
        clock.advance(ofHours(1));
        assertThat(remaining(five)).isEqualTo(5);
    }

    @Test
    void instancesThatDisagreeSeeTheSameConsumption() {
        RateLimit twenty = tokenBucket("changing", 20, "20/h");
        for (int i = 0; i < 5; i++) {
            take(ten, 1);
            take(twenty, 1);
        }
        assertThat(take(ten, 1).allowed()).isFalse();
        assertThat(remaining(twenty)).isEqualTo(10);
        take(twenty, 10);
        assertThat(remaining(ten)).isZero();
        assertThat(remaining(twenty)).isZero();
    }

    @Test
    void consumptionOutlivesARejectionBySmallerNumbers() {
        take(ten, 10);
        RateLimit one = tokenBucket("changing", 1, "1/h");
        assertThat(take(one, 1).allowed()).isFalse();
        assertThat(remaining(ten)).isZero();
    }

    @Test
    void changedRateCountsFromItsFirstCall() {
        take(ten, 10);
        RateLimit fast = tokenBucket("changing", 10, "10/s");
        assertThat(take(fast, 1).allowed()).isFalse();
        clock.advance(SECOND / 10);
        assertThat(remaining(fast)).isEqualTo(1);
        assertThat(remaining(ten)).isZero();
    }

    @Test
    void peekByChangedNumbersIsNoFirstCall() {
        take(ten, 10);
        RateLimit fast = tokenBucket("changing", 10, "10/s");
        assertThat(peek(fast, 1).allowed()).isFalse();
        clock.advance(SECOND / 10);
        assertThat(remaining(fast)).isZero();
    }

    @Test
    void consumptionOutlivesAnotherAlgorithm() {
        take(ten, 10);
        RateLimit window = fixedWindow("changing", 10, "10/h");
        assertThat(take(window, 1)).isEqualTo(rejected(10, 0, ofHours(1), ofHours(1)));
        clock.advance(HOUR / 10);
        assertThat(take(window, 1).allowed()).isFalse();
        assertThat(take(ten, 1).allowed()).isTrue();
        assertThat(take(window, 1).allowed()).isFalse();
        clock.advance(HOUR);
        assertThat(remaining(window)).isEqualTo(10);
    }
}

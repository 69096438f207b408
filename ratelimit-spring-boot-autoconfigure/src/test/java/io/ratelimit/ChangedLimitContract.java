package io.ratelimit;

import static io.ratelimit.TestLimits.fixedWindow;
import static io.ratelimit.TestLimits.tokenBucket;
import static java.time.Duration.ofHours;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A limit's numbers change while it is in use: what was consumed stays consumed, and nothing is given for free. */
public abstract class ChangedLimitContract extends StoreContract {

    private final RateLimit ten = tokenBucket("changing", 10, "10/h");

    @Test
    void raisedCapacityAddsOnlyTheDifference() {
        take(ten, 8);
        assertThat(remaining(tokenBucket("changing", 100, "10/h"))).isEqualTo(92);
    }

    @Test
    void loweredCapacityLeavesWhatIsLeftOfIt() {
        take(ten, 3);
        assertThat(remaining(tokenBucket("changing", 5, "10/h"))).isEqualTo(2);
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
    void changedRateCountsFromTheLastCall() {
        take(ten, 10);
        RateLimit fast = tokenBucket("changing", 10, "10/s");
        assertThat(remaining(fast)).isZero();
        clock.advance(SECOND / 10);
        assertThat(remaining(fast)).isEqualTo(1);
    }

    @Test
    void anotherPaceKeepsAFractionOfAMicrosecond() {
        RateLimit sevenths = tokenBucket("changing", 10, "7/3us");
        take(sevenths, 10);
        clock.advance(1);
        take(sevenths, 1);
        RateLimit slow = tokenBucket("changing", 10, "1/s");
        assertThat(remaining(slow)).isEqualTo(1);
        clock.advance(SECOND);
        assertThat(remaining(slow)).isEqualTo(2);
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

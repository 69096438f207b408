package io.ratelimit.internal.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.DrawnLimit;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The ends of the ranges, at rates of all sizes, against arithmetic that knows no end. */
@BothTiers
class CapacityRangeTests {

    private static final int TIMES = TestRandom.cases(20_000);

    private static final long LONGEST = 1L << 52;

    private final Random random = TestRandom.create(getClass());

    @ParameterizedTest
    @EnumSource
    void rangeEndsWhereTheArithmeticDoes(LimitKind kind) {
        for (int time = 0; time < TIMES; time++) {
            Rate rate = new Rate(upTo(LONGEST), micros(upTo(LONGEST)));
            Duration maxWait = kind.waits() ? micros(upTo(LONGEST)) : Duration.ZERO;
            CapacityRange range = range(kind, rate, maxWait);
            if (range.most() > 0) {
                assertThat(range.contains(range.most())).isTrue();
                assertThat(cannotBeCarried(kind, rate, range.most(), maxWait)).isFalse();
                assertThat(cannotBeCarried(kind, rate, range.step(), maxWait)).isFalse();
            }
            assertThat(range.contains(range.most() + range.step())).isFalse();
            assertThat(cannotBeCarried(kind, rate, range.most() + range.step(), maxWait))
                    .isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsBetweenTheStepsIsNotContained(LimitKind kind) {
        for (int time = 0; time < TIMES; time++) {
            Rate rate = new Rate(upTo(1_000), micros(upTo(1_000_000_000)));
            CapacityRange range = range(kind, rate, micros(kind.waits() ? 1 : 0));
            long capacity = upTo(10_000);
            assertThat(range.contains(capacity))
                    .isNotEqualTo(cannotBeCarried(kind, rate, capacity, micros(kind.waits() ? 1 : 0)));
        }
    }

    private static CapacityRange range(LimitKind kind, Rate rate, Duration maxWait) {
        AlgorithmTraits traits = RateLimit.named("drawn")
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .capacity(1)
                .rate(kind.algorithm() == Algorithm.CONCURRENCY ? "" : "1/s")
                .build()
                .numbers()
                .traits();
        ReducedRate reduced = ReducedRate.of(rate.permits(), rate.periodMicros());
        return traits.capacities(rate.permits(), rate.periodMicros(), reduced, maxWait);
    }

    private static boolean cannotBeCarried(LimitKind kind, Rate rate, long capacity, Duration maxWait) {
        return new DrawnLimit(kind, rate, capacity, maxWait).cannotBeCarried();
    }

    private long upTo(long most) {
        return TestRandom.logarithmic(random, 1, 1 + random.nextLong(most));
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}

package io.ratelimit.internal.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReducedRateTests {

    private static final int TIMES = 50_000;

    private final Random random = TestRandom.create(getClass());

    @ParameterizedTest
    @CsvSource({
        "10/s, 1, 100000",
        "3/7s, 3, 7000000",
        "10000000/s, 10, 1",
        "999983/d, 999983, 86400000000",
        "60/m, 1, 1000000"
    })
    void isInLowestTerms(String rate, long permits, long micros) {
        ReducedRate pace = reduced(Rate.parse(rate));
        assertThat(pace.permits()).isEqualTo(permits);
        assertThat(pace.micros()).isEqualTo(micros);
    }

    @Test
    void timesAreThoseOfExactArithmetic() {
        forRandomPaces(pace -> {
            long n = upTo(pace.largestCapacity());
            long fraction = random.nextLong(pace.permits());
            BigInteger parts = parts(pace, n, fraction);
            BigInteger permits = BigInteger.valueOf(pace.permits());
            BigInteger[] whole = parts.divideAndRemainder(permits);
            assertThat(pace.wholeTimeOf(n, fraction)).isEqualTo(whole[0].longValueExact());
            assertThat(pace.fractionOf(n, fraction)).isEqualTo(whole[1].longValueExact());
            assertThat(pace.timeOf(n, fraction)).isEqualTo(whole[0].longValueExact() + whole[1].signum());
        });
    }

    @Test
    void permitsComeBackWhenTheirTimeIsOver() {
        forRandomPaces(pace -> {
            long most = upTo(pace.largestCapacity());
            long n = random.nextLong(most + 1);
            long fraction = random.nextLong(pace.permits());
            long elapsed = Math.max(0, pace.timeOf(n, fraction) + random.nextInt(3) - 1);
            BigInteger parts = BigInteger.valueOf(elapsed).multiply(BigInteger.valueOf(pace.permits()));
            long back = parts.subtract(BigInteger.valueOf(fraction))
                    .divide(BigInteger.valueOf(pace.micros()))
                    .max(BigInteger.ZERO)
                    .min(BigInteger.valueOf(most))
                    .longValueExact();
            assertThat(pace.permitsIn(elapsed, fraction, most)).isEqualTo(back);
        });
    }

    /** What Lua calculates with must be exact in a double. */
    @Test
    void everythingStaysBelowTheEndOfExactIntegers() {
        forRandomPaces(pace -> {
            BigInteger most = BigInteger.valueOf(Math.min(RateLimit.MAX_CAPACITY, pace.largestCapacity()));
            BigInteger permits = BigInteger.valueOf(pace.permits());
            BigInteger[] permitTime = BigInteger.valueOf(pace.micros()).divideAndRemainder(permits);
            assertExact(BigInteger.valueOf(pace.micros()));
            assertExact(permits);
            assertExact(most.multiply(permitTime[0].add(BigInteger.ONE)).add(BigInteger.valueOf(TestClock.TODAY)));
            assertExact(most.multiply(permitTime[1]).add(permits.shiftLeft(1)).subtract(BigInteger.TWO));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"1/P52200D", "999999937/PT10000000001S", "1/PT9223372036854775807S"})
    void periodThatIsTooLong(String rate) {
        assertThatExceptionOfType(ArithmeticException.class).isThrownBy(() -> reduced(Rate.parse(rate)));
    }

    /** Of all sizes, near the ends of the range more often than not, and most of them in lowest terms already. */
    private void forRandomPaces(Consumer<ReducedRate> check) {
        for (int checked = 0; checked < TIMES; ) {
            Rate rate = new Rate(
                    TestRandom.logarithmic(random, 1, 1L << random.nextInt(1, 53)),
                    Duration.of(TestRandom.logarithmic(random, 1, 1L << random.nextInt(1, 53)), ChronoUnit.MICROS));
            ReducedRate pace = rate.period().toDays() > 52_000 ? null : reduced(rate);
            if (pace != null && pace.largestCapacity() > 0) {
                check.accept(pace);
                checked++;
            }
        }
    }

    private static ReducedRate reduced(Rate rate) {
        return ReducedRate.of(rate.permits(), rate.periodMicros());
    }

    private long upTo(long capacity) {
        long most = Math.min(capacity, RateLimit.MAX_CAPACITY);
        return random.nextInt(4) == 0 ? most : TestRandom.logarithmic(random, 1, most);
    }

    private static BigInteger parts(ReducedRate pace, long n, long fraction) {
        return BigInteger.valueOf(n).multiply(BigInteger.valueOf(pace.micros())).add(BigInteger.valueOf(fraction));
    }

    private static void assertExact(BigInteger number) {
        assertThat(number).isLessThanOrEqualTo(BigInteger.TWO.pow(53));
    }
}

package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.List;
import java.util.Random;

/** Limits from the whole range that is possible, and a little beyond it. Those that are refused are drawn again. */
final class RandomLimits {

    private static final List<String> ODD =
            List.of("1/d", "3/7s", "999983/d", "10000000/s", "7/11us", "1/us", "999999937/d", "1/P365D", "13/3h");

    private static final List<String> UNITS = List.of("us", "ms", "s", "m", "h", "d");

    private static final long[] MICROS = {1, 1_000, 1_000_000, 60_000_000, 3_600_000_000L, 86_400_000_000L};

    private final Random random;

    private int drawn;

    private int refused;

    RandomLimits(Random random) {
        this.random = random;
    }

    RateLimit next(String name, Algorithm algorithm) {
        while (true) {
            String rate = rate();
            long capacity = random.nextInt(4) == 0 ? 0 : TestRandom.logarithmic(random, 1, 1_000_000_000);
            drawn++;
            try {
                return RateLimit.named(name)
                        .algorithm(algorithm)
                        .capacity(capacity)
                        .rate(rate)
                        .build();
            } catch (RateLimitConfigurationException ex) {
                refused++;
                assertThat(cannotBeCarried(Rate.parse(rate), capacity))
                        .as("%s, capacity %d was refused: %s", rate, capacity, ex.getMessage())
                        .isTrue();
            }
        }
    }

    /** At a rate from 1 a day to 10 million a second. */
    private String rate() {
        if (random.nextInt(8) == 0) {
            return ODD.get(random.nextInt(ODD.size()));
        }
        while (true) {
            int unit = random.nextInt(UNITS.size());
            long periods = random.nextBoolean() ? 1 : TestRandom.logarithmic(random, 1, 1_000);
            long permits = TestRandom.logarithmic(random, 1, 10_000_000_000L);
            double perSecond = permits * 1e6 / periods / MICROS[unit];
            if (perSecond <= 10_000_000 && perSecond >= 1 / 86_400.0) {
                return permits + "/" + periods + UNITS.get(unit);
            }
        }
    }

    /**
     * The only reasons to refuse: a capacity beyond 10^9, an empty bucket that takes more than 142 years (2^52
     * microseconds) to fill, or a remainder of a division that may pass 2^53.
     */
    static boolean cannotBeCarried(Rate rate, long capacity) {
        BigInteger most = BigInteger.valueOf(capacity == 0 ? rate.permits() : capacity);
        BigInteger permits = BigInteger.valueOf(rate.permits());
        BigInteger micros = BigInteger.valueOf(rate.period().toNanos() / 1_000);
        BigInteger divisor = permits.gcd(micros);
        BigInteger[] permitTime = micros.divide(divisor).divideAndRemainder(permits.divide(divisor));
        BigInteger full = most.multiply(permitTime[0].add(BigInteger.ONE));
        BigInteger remainder =
                most.multiply(permitTime[1]).add(permits.divide(divisor).shiftLeft(1));
        return most.longValueExact() > RateLimit.MAX_CAPACITY
                || full.bitLength() > 52
                || (permitTime[1].signum() > 0 && remainder.bitLength() > 53);
    }

    @Override
    public String toString() {
        return drawn + " limits drawn, " + refused + " refused";
    }
}

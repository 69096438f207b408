package io.ratelimit.internal.limit;

import java.math.BigInteger;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A rate reduced to lowest terms, {@code permits} every {@code micros} microseconds, and the arithmetic on it
 * that is exact in integers below 2^53, where Lua's end.
 *
 * <p>{@code n} permits take {@code n × micros / permits} microseconds. The division's remainder is carried as a
 * fraction: a number of {@code 1/permits} microseconds.
 */
public final class ReducedRate {

    /** Every integer up to here is exact in a double. */
    static final long EXACT = 1L << 53;

    /** 142 years in microseconds: leaves today's clock and a full bucket's time together below 2^53. */
    public static final long LONGEST = 1L << 52;

    /** A little less than 1. */
    private static final double ALMOST = 1 - 0x1p-45;

    private final long permits;

    private final long micros;

    /** The time of one permit, in whole microseconds and the rest of them. */
    private final long whole;

    private final long rest;

    private ReducedRate(long permits, long micros) {
        this.permits = permits;
        this.micros = micros;
        this.whole = micros / permits;
        this.rest = micros % permits;
    }

    /**
     * Reduces a rate.
     *
     * @throws ArithmeticException if the period, in lowest terms, is longer than {@link #LONGEST}
     */
    public static ReducedRate of(long permits, long micros) {
        long divisor =
                BigInteger.valueOf(permits).gcd(BigInteger.valueOf(micros)).longValue();
        if (micros / divisor > LONGEST) {
            throw new ArithmeticException("The period of " + permits + "/" + micros + "us is too long");
        }
        return new ReducedRate(permits / divisor, micros / divisor);
    }

    public long permits() {
        return permits;
    }

    public long micros() {
        return micros;
    }

    /** Returns the permits of the rate, which come back together at the latest after their time. */
    LimitNumbers.Batch batch() {
        return new LimitNumbers.Batch(permits, micros);
    }

    /** The time until {@code n} permits have come back, a fraction of a microsecond having been carried over; rounded up. */
    public long timeOf(long n, long fraction) {
        long parts = n * rest + fraction;
        return n * whole + (parts == 0 ? 0 : 1 + wholeMicros(parts - 1));
    }

    /** The same, rounded down: what it leaves is {@link #fractionOf}. */
    public long wholeTimeOf(long n, long fraction) {
        return n * whole + wholeMicros(n * rest + fraction);
    }

    public long fractionOf(long n, long fraction) {
        long parts = n * rest + fraction;
        return parts < permits ? parts : parts % permits;
    }

    /** Seldom divides: most rates leave no parts, and most calls find no permit that has come back. */
    private long wholeMicros(long parts) {
        return parts < permits ? 0 : parts / permits;
    }

    /** How many permits, {@code most} at the most, have come back in the time. */
    public long permitsIn(long elapsed, long fraction, long most) {
        if (elapsed < whole) {
            return 0;
        }
        if (elapsed >= timeOf(most, fraction)) {
            return most;
        }
        // The product does not fit an integer. As a double it is less than one permit off, and then set right exactly.
        long n = Math.max(0, (long) (((double) elapsed * permits - fraction) / micros));
        while (n > 0 && timeOf(n, fraction) > elapsed) {
            n--;
        }
        while (timeOf(n + 1, fraction) <= elapsed) {
            n++;
        }
        return n;
    }

    /**
     * Returns how long the same part of a permit takes by this rate as {@code elapsed} by the other one, rounded down: the doubles,
     * which are those of Lua, are wrong by much less than {@link #ALMOST} leaves out.
     */
    public long samePart(long elapsed, ReducedRate other) {
        double parts = (double) elapsed / ((double) other.micros / other.permits);
        return (long) (parts * ((double) micros / permits) * ALMOST);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ReducedRate reduced && permits == reduced.permits && micros == reduced.micros;
    }

    @Override
    public int hashCode() {
        return Objects.hash(permits, micros);
    }

    /** {@code capacity / rate}, rounded up, for every capacity of a {@link CapacityRange}. */
    public long fullMicros(long capacity) {
        return BigInteger.valueOf(capacity)
                .multiply(BigInteger.valueOf(micros))
                .add(BigInteger.valueOf(permits - 1))
                .divide(BigInteger.valueOf(permits))
                .longValueExact();
    }

    /** The largest capacity for which the evenly refilled bucket is exact; 0 if there is none. */
    public long largestCapacity() {
        long byTime = LONGEST / (whole + 1);
        // Twice the permits: a fraction carried over, and the rounding up.
        long byProduct = rest == 0 ? Long.MAX_VALUE : Math.max(0, EXACT - 2 * Math.min(permits, EXACT / 2)) / rest;
        return Math.min(byTime, byProduct);
    }
}

package io.ratelimit.testing;

import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.testing.reference.Fraction;
import java.math.BigInteger;
import java.time.Duration;

/** What a limit is to be, before anybody has said whether it can be. */
public record DrawnLimit(LimitKind kind, Rate rate, long capacity, Duration maxWait) {

    /** 142 years in microseconds: no time may be longer. */
    private static final Fraction LONGEST = Fraction.of(1L << 52);

    private static final BigInteger LARGEST_INTEGER = BigInteger.TWO.pow(53);

    RateLimit build(String name) {
        return kind.limit(name, capacity, rate.toString(), maxWait);
    }

    /** Whether the arithmetic in integers below 2^53 has no room for it, which is the only reason to refuse it. */
    public boolean cannotBeCarried() {
        return most() > RateLimit.MAX_CAPACITY
                || switch (kind) {
                    case TOKEN_BUCKET, TOKEN_BUCKET_WITH_WAIT, LEAKY_BUCKET, LEAKY_BUCKET_WITH_WAIT ->
                        refillCannotBeCarried();
                    case TOKEN_BUCKET_BY_INTERVALS -> isTooLong(timeToFillByIntervals());
                    case FIXED_WINDOW -> isTooLong(window());
                    case SLIDING_WINDOW -> !isWhole(window()) || isTooLong(window().times(Fraction.of(2)));
                    case SLIDING_WINDOW_LOG -> most() > 10_000 || isTooLong(window());
                };
    }

    /** An empty bucket takes too long to fill, or the remainder of a division may pass 2^53. */
    private boolean refillCannotBeCarried() {
        BigInteger permits = perMicro().numerator();
        BigInteger micros = perMicro().denominator();
        BigInteger used = BigInteger.valueOf(most()).add(reservedAhead());
        BigInteger rest = micros.mod(permits);
        BigInteger remainder = used.multiply(rest).add(permits.shiftLeft(1));
        BigInteger full = used.multiply(micros.divide(permits).add(BigInteger.ONE));
        return full.compareTo(LONGEST.numerator()) > 0
                || (rest.signum() > 0 && remainder.compareTo(LARGEST_INTEGER) > 0);
    }

    /** The permits that come in the wait, the one that has begun to come included. */
    private BigInteger reservedAhead() {
        Fraction ahead = Fraction.of(TestClock.inMicros(maxWait)).times(perMicro());
        return maxWait.isZero()
                ? BigInteger.ZERO
                : ahead.numerator().divide(ahead.denominator()).add(BigInteger.ONE);
    }

    private Fraction timeToFillByIntervals() {
        long batches =
                Fraction.of(most()).dividedBy(Fraction.of(rate.permits())).ceiling();
        return Fraction.of(batches).times(Fraction.of(rate.periodMicros()));
    }

    private Fraction window() {
        return Fraction.of(most()).dividedBy(perMicro());
    }

    private Fraction perMicro() {
        return Fraction.of(rate.permits()).dividedBy(Fraction.of(rate.periodMicros()));
    }

    private long most() {
        return capacity == 0 ? rate.permits() : capacity;
    }

    private static boolean isTooLong(Fraction time) {
        return time.compareTo(LONGEST) > 0;
    }

    private static boolean isWhole(Fraction time) {
        return time.denominator().equals(BigInteger.ONE);
    }
}

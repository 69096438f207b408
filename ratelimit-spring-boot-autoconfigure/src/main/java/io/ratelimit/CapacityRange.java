package io.ratelimit;

import java.math.BigInteger;
import java.time.Duration;

/**
 * The capacities with which a limit's arithmetic stays exact in integers below 2^53, where Lua's end: {@code step}, twice
 * that, and so on, up to {@code most}.
 */
record CapacityRange(long step, long most) {

    /** A log may have an entry for every permit: ten bytes each, and looking at all of them keeps Redis busy for a while. */
    static final long LARGEST_LOG = 10_000;

    boolean contains(long capacity) {
        return capacity >= step && capacity <= most && capacity % step == 0;
    }

    /** What is reserved ahead is used as well. */
    static CapacityRange ofEvenRefill(ReducedRate pace, Duration maxWait) {
        BigInteger ahead = maxWait.isZero()
                ? BigInteger.ZERO
                : permits(micros(maxWait), pace).add(BigInteger.ONE);
        BigInteger most = BigInteger.valueOf(pace.largestCapacity()).subtract(ahead);
        return new CapacityRange(1, atMost(RateLimit.MAX_CAPACITY, most));
    }

    static CapacityRange ofIntervals(Rate rate) {
        BigInteger batches = BigInteger.valueOf(ReducedRate.LONGEST / rate.periodMicros());
        return new CapacityRange(
                1, atMost(RateLimit.MAX_CAPACITY, batches.multiply(BigInteger.valueOf(rate.permits()))));
    }

    static CapacityRange ofWindow(ReducedRate pace, long most) {
        return new CapacityRange(1, atMost(most, inWindow(pace)));
    }

    /** Two windows are remembered, and they begin at whole microseconds. */
    static CapacityRange ofAlignedWindows(ReducedRate pace) {
        long most = atMost(RateLimit.MAX_CAPACITY, inWindow(pace).shiftRight(1));
        return new CapacityRange(pace.permits(), most - most % pace.permits());
    }

    private static BigInteger inWindow(ReducedRate pace) {
        return permits(BigInteger.valueOf(ReducedRate.LONGEST), pace);
    }

    private static BigInteger permits(BigInteger micros, ReducedRate pace) {
        return micros.multiply(BigInteger.valueOf(pace.permits())).divide(BigInteger.valueOf(pace.micros()));
    }

    private static BigInteger micros(Duration duration) {
        return BigInteger.valueOf(duration.toSeconds())
                .multiply(BigInteger.valueOf(1_000_000))
                .add(BigInteger.valueOf(duration.toNanosPart() / 1_000));
    }

    private static long atMost(long most, BigInteger number) {
        return number.min(BigInteger.valueOf(most)).max(BigInteger.ZERO).longValueExact();
    }
}

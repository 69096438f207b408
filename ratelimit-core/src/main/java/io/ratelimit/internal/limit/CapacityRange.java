package io.ratelimit.internal.limit;

import java.math.BigInteger;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The capacities with which a limit's arithmetic stays exact in integers below 2^53, where Lua's end: {@code step}, twice
 * that, and so on, up to {@code most}.
 */
public record CapacityRange(long step, long most) {

    /** The largest capacity. */
    public static final long LARGEST = 1_000_000_000;

    /** A log may have an entry for every permit: ten bytes each, and looking at all of them keeps Redis busy for a while. */
    public static final long LARGEST_LOG = 10_000;

    public boolean contains(long capacity) {
        return capacity >= step && capacity <= most && capacity % step == 0;
    }

    /** What is reserved ahead is used as well. */
    static CapacityRange ofEvenRefill(ReducedRate reduced, Duration maxWait) {
        BigInteger ahead = maxWait.isZero()
                ? BigInteger.ZERO
                : permits(TimeUnit.MICROSECONDS.convert(maxWait), reduced).add(BigInteger.ONE);
        BigInteger most = BigInteger.valueOf(reduced.largestCapacity()).subtract(ahead);
        return new CapacityRange(1, atMost(LARGEST, most));
    }

    static CapacityRange ofIntervals(long permits, long periodMicros) {
        BigInteger batches = BigInteger.valueOf(ReducedRate.LONGEST / periodMicros);
        return new CapacityRange(1, atMost(LARGEST, batches.multiply(BigInteger.valueOf(permits))));
    }

    static CapacityRange ofWindow(ReducedRate reduced, long most) {
        return new CapacityRange(1, atMost(most, inWindow(reduced)));
    }

    /** Two windows are remembered, and they begin at whole microseconds. */
    static CapacityRange ofAlignedWindows(ReducedRate reduced) {
        long most = atMost(LARGEST, inWindow(reduced).shiftRight(1));
        return new CapacityRange(reduced.permits(), most - most % reduced.permits());
    }

    /** The time of all permits, times the permits of the rate, is exact, so that any arithmetic with it can be. */
    static CapacityRange ofProduct(ReducedRate reduced) {
        return new CapacityRange(1, Math.min(LARGEST, ReducedRate.LONGEST / reduced.micros()));
    }

    private static BigInteger inWindow(ReducedRate reduced) {
        return permits(ReducedRate.LONGEST, reduced);
    }

    private static BigInteger permits(long micros, ReducedRate reduced) {
        return BigInteger.valueOf(micros)
                .multiply(BigInteger.valueOf(reduced.permits()))
                .divide(BigInteger.valueOf(reduced.micros()));
    }

    private static long atMost(long most, BigInteger number) {
        return number.min(BigInteger.valueOf(most)).max(BigInteger.ZERO).longValueExact();
    }
}

package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Describes what other code must know of an algorithm with its refill: one subclass for each. The defaults fit an
 * algorithm whose permits come back all together.
 */
public abstract class AlgorithmTraits {

    /** What a decision says in place of a time if nothing tells when permits come back. */
    public static final long UNKNOWN_MICROS = 1_000_000;

    private final char letter;

    AlgorithmTraits(char letter) {
        this.letter = letter;
    }

    /** Returns the letter of the Lua function that counts by this algorithm. */
    public final char letter() {
        return letter;
    }

    /** Returns the traits with refill INTERVAL; {@code null}: the algorithm does not allow it. */
    public @Nullable AlgorithmTraits inIntervals() {
        return null;
    }

    /** Returns the traits with a calendar unit as the period of the rate; {@code null}: the algorithm does not allow it. */
    public @Nullable AlgorithmTraits inCalendarUnits() {
        return null;
    }

    /** Returns the capacities with which the arithmetic is exact. */
    public abstract CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait);

    /** Returns how to fix a capacity outside of {@link #capacities}. */
    public String capacityAdvice() {
        return "Change it, or the rate.";
    }

    /** Returns the permits that come back together, and how long after they were taken. */
    public abstract Batch batch(LimitNumbers limit);

    /** Whether permits come back when calls end, and not at a rate. Such a limit has no rate. */
    public boolean holdsPermits() {
        return false;
    }

    /** Whether a {@link #batch} is always the whole capacity. */
    public boolean isWindow() {
        return false;
    }

    /** Whether permits come back one after the other, in the order in which they were taken. */
    public boolean refillsEvenly() {
        return false;
    }

    /** Whether a call can take permits that are not back yet, and wait for them. */
    public boolean reservesAhead() {
        return refillsEvenly();
    }

    /** Whether an admitted call waits until all permits taken before it are back. */
    public boolean spacesCalls() {
        return false;
    }

    /** Whether the state has an entry for each call, so that a decision takes longer than with a few numbers. */
    public boolean hasEntries() {
        return false;
    }

    /** Whether the first call that takes permits starts a period, which ends early if that call is refunded. */
    public boolean startsPeriods() {
        return false;
    }

    /** Whether {@link #waitForMore} is known from the numbers of a rejection. */
    public boolean knowsWaitForMore() {
        return true;
    }

    /**
     * Returns how many microseconds longer than a rejected call one has to wait that asks for more.
     *
     * @param missing permits that the rejected call lacked
     * @param more permits beyond those of the rejected call
     */
    public long waitForMore(LimitNumbers limit, long missing, long more) {
        return 0;
    }

    /** Returns why permits taken in advance could exceed the limit; {@code null} if they cannot. */
    public @Nullable String obstacleToLeases(long permits, long capacity) {
        return null;
    }

    /**
     * Returns for how many microseconds permits taken in advance count in the store.
     *
     * @param resetMicros until the bucket is full again
     */
    public long leaseMicros(LimitNumbers limit, long resetMicros) {
        return resetMicros;
    }

    /**
     * Returns the rate of one instance, so that all instances together stay within the limit; {@code null}: the capacity alone is
     * divided.
     */
    public abstract @Nullable String dividedRate(LimitNumbers limit, int instances);

    /** Whether the rate of one instance is refilled in batches. */
    public boolean dividesBatches(LimitNumbers limit, int instances) {
        return false;
    }

    static String slower(Batch batch, int instances) {
        return new Batch(batch.permits(), Math.multiplyExact(batch.micros(), instances)).toString();
    }
}

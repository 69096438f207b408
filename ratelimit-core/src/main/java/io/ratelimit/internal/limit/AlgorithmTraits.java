package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Describes what other code must know of an algorithm with its refill: one subclass for each. The defaults fit an
 * algorithm whose permits come back all together.
 */
public abstract class AlgorithmTraits {

    /** What a decision says in place of a time if nothing tells when permits come back. */
    public static final long UNKNOWN_MICROS = 1_000_000;

    /** What is so, and is not said by a method of a subclass. */
    public enum Trait {
        /** Permits come back when calls end, and not at a rate. Such a limit has no rate. */
        HOLDS_PERMITS,

        /**
         * Permits come back one after the other, in the order in which they were taken. A call can take permits that are not back
         * yet, and wait for them.
         */
        REFILLS_EVENLY,

        /** An admitted call waits until all permits taken before it are back. */
        SPACES_CALLS,

        /** The state has an entry for each call, so that a decision takes longer than with a few numbers. */
        HAS_ENTRIES,

        /** The first call that takes permits starts a period, which ends early if that call is refunded. */
        STARTS_PERIODS
    }

    private final char letter;

    private final Set<Trait> traits;

    private final @Nullable String obstacleToLeases;

    /** @param obstacleToLeases why permits taken in advance could exceed the limit; {@code null} if they cannot */
    AlgorithmTraits(char letter, @Nullable String obstacleToLeases, Trait... traits) {
        this.letter = letter;
        this.obstacleToLeases = obstacleToLeases;
        this.traits = traits.length == 0 ? EnumSet.noneOf(Trait.class) : EnumSet.of(traits[0], traits);
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

    /** Returns the permits that come back together, and how long after they were taken: as few as the rate's numbers allow. */
    public Batch batch(LimitNumbers limit) {
        return limit.reducedRate().batch();
    }

    public final boolean has(Trait trait) {
        return traits.contains(trait);
    }

    /** Whether a {@link #batch} is always the whole capacity. */
    public final boolean isWindow() {
        return this instanceof WindowTraits;
    }

    /** Returns why permits taken in advance could exceed the limit; {@code null} if they cannot. */
    public @Nullable String obstacleToLeases(long permits, long capacity) {
        return obstacleToLeases;
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
    public @Nullable String dividedRate(LimitNumbers limit, int instances) {
        return slower(batch(limit), instances);
    }

    /** Whether the rate of one instance is refilled in batches. */
    public boolean dividesBatches(LimitNumbers limit, int instances) {
        return false;
    }

    static String slower(Batch batch, int instances) {
        return new Batch(batch.permits(), Math.multiplyExact(batch.micros(), instances)).toString();
    }
}

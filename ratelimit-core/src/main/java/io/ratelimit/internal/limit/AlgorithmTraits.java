package io.ratelimit.internal.limit;

import io.ratelimit.internal.limit.LimitNumbers.Batch;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Describes what other code must know of an algorithm with its refill: one constant for each, which answers what is special. */
@SuppressWarnings("ImmutableEnumChecker") // The set does not change.
public enum AlgorithmTraits {
    /** Permits come back at the rate, as few at once as its numbers allow. */
    TOKEN_BUCKET('T', null, Trait.REFILLS_EVENLY) {
        @Override
        public AlgorithmTraits inIntervals() {
            return INTERVAL_BUCKET;
        }
    },

    /** Counts as a token bucket does, so that a limit can change between the two; admitted calls wait for their turn. */
    LEAKY_BUCKET(
            'T', "the slots of LEAKY_BUCKET are in the order of the calls", Trait.REFILLS_EVENLY, Trait.SPACES_CALLS),

    /** A token bucket that is refilled in one batch per period. */
    INTERVAL_BUCKET('I', null, Trait.STARTS_PERIODS) {
        @Override
        public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofIntervals(permits, periodMicros);
        }

        /** More than the capacity cannot come back at once. */
        @Override
        public Batch batch(LimitNumbers limit) {
            return new Batch(Math.min(limit.permits(), limit.capacity()), limit.periodMicros());
        }

        @Override
        public @Nullable String obstacleToLeases(long permits, long capacity) {
            return permits < capacity
                    ? "batches of " + permits + " do not fill the bucket of " + capacity
                            + ", so what is not handed out would shift its periods"
                    : null;
        }

        /** Batches that cannot be divided come one permit after the other: whole ones would be too much at once. */
        @Override
        public @Nullable String dividedRate(LimitNumbers limit, int instances) {
            Batch batch = batch(limit);
            return dividesBatches(limit, instances)
                    ? new Batch(batch.permits() / instances, batch.micros()).toString()
                    : super.dividedRate(limit, instances);
        }

        @Override
        public boolean dividesBatches(LimitNumbers limit, int instances) {
            return batch(limit).permits() % instances == 0;
        }
    },

    /** A window starts with the first call that takes permits after the one before it. */
    FIXED_WINDOW('F', null, Trait.IS_WINDOW, Trait.STARTS_PERIODS) {
        @Override
        public AlgorithmTraits inCalendarUnits() {
            return CALENDAR_WINDOW;
        }

        @Override
        public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofWindow(reduced, CapacityRange.LARGEST);
        }
    },

    /** Fixed windows that are the units of a calendar. */
    CALENDAR_WINDOW('C', null, Trait.IS_WINDOW) {
        @Override
        public @Nullable String dividedRate(LimitNumbers limit, int instances) {
            return limit.capacity() < instances
                    ? super.dividedRate(limit, instances)
                    : limit.capacity() / instances + "/"
                            + Objects.requireNonNull(limit.calendar()).unit();
        }
    },

    /** Windows are aligned, and a share of the one before is still in view. */
    SLIDING_WINDOW('S', null, Trait.IS_WINDOW) {
        @Override
        public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofAlignedWindows(reduced);
        }

        /** From the end of the window on, its permits are in view for as long as it lasted. */
        @Override
        public long leaseMicros(LimitNumbers limit, long resetMicros) {
            return resetMicros - limit.fullMicros();
        }
    },

    /** The state has the time of each call in the window. */
    SLIDING_WINDOW_LOG(
            'L', "an entry of SLIDING_WINDOW_LOG has the time of its call", Trait.IS_WINDOW, Trait.HAS_ENTRIES) {
        @Override
        public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofWindow(reduced, CapacityRange.LARGEST_LOG);
        }

        @Override
        public String capacityAdvice() {
            return "Change it, or use SLIDING_WINDOW, which does not store an entry for each permit.";
        }
    },

    /** Permits come back when calls end. */
    CONCURRENCY('H', "a call of CONCURRENCY releases its permits when it ends", Trait.IS_WINDOW, Trait.HOLDS_PERMITS) {
        /** Permits that are neither released nor renewed come back together. */
        @Override
        public Batch batch(LimitNumbers limit) {
            return new Batch(limit.permits(), limit.periodMicros());
        }

        /** Its capacity is divided, and there is nothing else. */
        @Override
        public @Nullable String dividedRate(LimitNumbers limit, int instances) {
            return null;
        }
    },

    /** An algorithm of the application. No more is known of it than its functions. */
    OWN('X', "an algorithm of the application decides when permits come back") {
        @Override
        public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofProduct(reduced);
        }
    };

    /** What a decision says in place of a time if nothing tells when permits come back. */
    public static final long UNKNOWN_MICROS = 1_000_000;

    /** What is so, and is not said by a method. */
    public enum Trait {
        /** Permits come back when calls end, and not at a rate. Such a limit has no rate. */
        HOLDS_PERMITS,

        /** All permits come back together. */
        IS_WINDOW,

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

    private final Set<Trait> traits = EnumSet.noneOf(Trait.class);

    private final @Nullable String obstacleToLeases;

    /** @param obstacleToLeases why permits taken in advance could exceed the limit; {@code null} if they cannot */
    AlgorithmTraits(char letter, @Nullable String obstacleToLeases, Trait... traits) {
        this.letter = letter;
        this.obstacleToLeases = obstacleToLeases;
        this.traits.addAll(List.of(traits));
    }

    /** Returns the letter of the Lua function that counts by this algorithm. */
    public char letter() {
        return letter;
    }

    public boolean has(Trait trait) {
        return traits.contains(trait);
    }

    /** Returns the traits with refill INTERVAL; {@code null}: the algorithm does not allow it. */
    public @Nullable AlgorithmTraits inIntervals() {
        return null;
    }

    /** Returns the traits with a calendar unit as the period of the rate; {@code null}: the algorithm does not allow it. */
    public @Nullable AlgorithmTraits inCalendarUnits() {
        return null;
    }

    /** Returns the capacities with which the arithmetic is exact. That of a window has none with the rate. */
    public CapacityRange capacities(long permits, long periodMicros, ReducedRate reduced, Duration maxWait) {
        return has(Trait.IS_WINDOW)
                ? new CapacityRange(1, CapacityRange.LARGEST)
                : CapacityRange.ofEvenRefill(reduced, maxWait);
    }

    /** Returns how to fix a capacity outside of {@link #capacities}. */
    public String capacityAdvice() {
        return "Change it, or the rate.";
    }

    /** Returns the permits that come back together, and how long after they were taken: as few as the rate's numbers allow. */
    public Batch batch(LimitNumbers limit) {
        return has(Trait.IS_WINDOW)
                ? new Batch(limit.capacity(), limit.fullMicros())
                : limit.reducedRate().batch();
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
     * divided. A window of an instance is as long as the limit's; with less than one permit for each instance, as long as one permit
     * takes.
     */
    public @Nullable String dividedRate(LimitNumbers limit, int instances) {
        Batch batch = batch(limit);
        if (!has(Trait.IS_WINDOW)) {
            return new Batch(batch.permits(), Math.multiplyExact(batch.micros(), instances)).toString();
        }
        return batch.permits() < instances
                ? new Batch(1, limit.reducedRate().fullMicros(instances)).toString()
                : new Batch(batch.permits() / instances, batch.micros()).toString();
    }

    /** Whether the rate of one instance is refilled in batches. */
    public boolean dividesBatches(LimitNumbers limit, int instances) {
        return false;
    }
}

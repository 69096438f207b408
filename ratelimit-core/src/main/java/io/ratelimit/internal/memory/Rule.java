package io.ratelimit.internal.memory;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.Refill;
import io.ratelimit.internal.limit.CalendarWindows;
import org.jspecify.annotations.Nullable;

/**
 * Counts used permits and decides when they come back. Pure functions: (usage, now) → usage. Equal rules share their state.
 *
 * @param <U> the state of the rule
 */
interface Rule<U extends Usage> {

    /** The most permits in use. */
    long capacity();

    /** Returns the state in which nothing is used. In Redis, its time is now, whatever the rule. */
    U unused(long now);

    /** Removes permits that have come back. The other functions need a usage that has been through this at the same time. */
    U recover(U usage, long now);

    /** Permits in use, a part of one counting as one. */
    long used(U usage, long now);

    /** Returns the microseconds until no more than so many permits are used. */
    long timeUntil(long most, U usage, long now);

    /** Returns the microseconds until nothing is used. */
    default long resetAfter(U usage, long now) {
        return used(usage, now) == 0 ? 0 : timeUntil(0, usage, now);
    }

    /** Uses permits that are available, each once. */
    U take(U usage, long now, long permits);

    /**
     * Uses permits of a call that another rule has admitted, up to the capacity.
     *
     * @param admitting the state of the other rule after the call
     */
    default U observe(U usage, long now, long permits, RuleState<?> admitting) {
        return take(usage, now, permits);
    }

    /**
     * Uses permits, available or not. Where the arithmetic would no longer be exact, in 142 years, a debt ends.
     *
     * @param first the state of the rule that is charged first, after the charge; {@code null}: this one is
     */
    U force(U usage, long now, long permits, @Nullable RuleState<?> first);

    /**
     * Undoes a charge or a part of it, except for permits that have come back. Never undoes more than is used.
     *
     * @param charged the permits of the charge
     * @param receipt what the usage was right after the charge
     * @param entryStays whether another log of the bucket needs the charge's entry
     */
    default U refund(U usage, long now, long permits, long charged, CounterState receipt, boolean entryStays) {
        return refund(usage, now, permits, receipt);
    }

    /** Undoes a charge or a part of it, if the state does not know single charges. */
    U refund(U usage, long now, long permits, CounterState receipt);

    /** Returns how many of the permits in use were taken after a charge, if they come back in the order in which they were taken. */
    default long later(U usage, CounterState receipt) {
        return 0;
    }

    /**
     * Undoes a charge or a part of it that another rule of this kind has admitted and refunds.
     *
     * @param time of the charge
     * @param later how many permits that are in use by the other rule were taken after the charge
     */
    default U refundObserved(U usage, long now, long permits, long time, long later) {
        return usage;
    }

    /** Returns permits to the bucket, those that were taken last, or all if there are fewer. */
    U grant(U usage, long now, long permits);

    /** Takes over what another rule has counted, up to the capacity. */
    U adopt(RuleState<?> other, long now);

    /** Whether both are logs, which record the same calls. */
    default boolean sharesEntriesWith(Rule<?> other) {
        return false;
    }

    static Rule<?> of(RateLimit limit) {
        Algorithm algorithm = limit.algorithm();
        if (algorithm == null) {
            return OwnRule.of(limit);
        }
        return switch (algorithm) {
            case TOKEN_BUCKET, LEAKY_BUCKET ->
                limit.refill() == Refill.INTERVAL
                        ? IntervalRule.of(limit)
                        : new TokenBucketRule(limit.capacity(), limit.numbers().reducedRate());
            case FIXED_WINDOW -> fixedWindow(limit);
            case SLIDING_WINDOW -> new SlidingWindowRule(limit.capacity(), limit.fullMicros());
            case SLIDING_WINDOW_LOG -> new SlidingWindowLogRule(limit.capacity(), limit.fullMicros());
            case CONCURRENCY -> new ConcurrencyRule(limit.capacity());
        };
    }

    private static Rule<?> fixedWindow(RateLimit limit) {
        CalendarWindows windows = limit.numbers().calendar();
        return windows == null
                ? new FixedWindowRule(limit.capacity(), limit.fullMicros())
                : new CalendarWindowRule(limit.capacity(), windows);
    }
}

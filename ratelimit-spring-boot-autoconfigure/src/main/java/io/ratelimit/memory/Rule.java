package io.ratelimit.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.Refill;

/**
 * How used permits are counted and come back. Pure functions: (usage, now) → usage. Two rules that are equal count alike.
 *
 * @param <U> what it remembers
 */
interface Rule<U extends Usage> {

    /** The most permits in use. */
    long capacity();

    /** Nothing is used. */
    U unused(long now);

    /** Takes out what is back. The other functions want a usage that has been through this at the same time. */
    U recover(U usage, long now);

    /** Permits in use, a part of one counting as one. */
    long used(U usage, long now);

    /** The time in microseconds until no more than so many permits are used. */
    long timeUntil(long most, U usage, long now);

    /** The time in microseconds until the bucket is as if never used. */
    default long resetAfter(U usage, long now) {
        return used(usage, now) == 0 ? 0 : timeUntil(0, usage, now);
    }

    /** Uses permits that are there. */
    U take(U usage, long now, long permits);

    /** Uses permits of a call that another rule has admitted, up to the capacity. */
    default U witness(U usage, long now, long permits) {
        return take(usage, now, permits);
    }

    /**
     * Undoes a charge, as far as it is not back by itself. Never more than is used, whatever became of the bucket since.
     *
     * @param receipt what the usage was right after the charge
     */
    U giveBack(U usage, long now, long permits, CounterState receipt);

    /** Counts what another rule does at this moment, up to the capacity. */
    U adopt(RuleState<?> other, long now);

    static Rule<?> of(RateLimit limit) {
        return switch (limit.algorithm()) {
            case TOKEN_BUCKET, LEAKY_BUCKET ->
                limit.refill() == Refill.INTERVAL
                        ? IntervalRule.of(limit)
                        : new TokenBucketRule(limit.capacity(), limit.reducedRate());
            case FIXED_WINDOW -> new FixedWindowRule(limit.capacity(), limit.fullMicros());
            case SLIDING_WINDOW -> new SlidingWindowRule(limit.capacity(), limit.fullMicros());
            case SLIDING_WINDOW_LOG -> new SlidingWindowLogRule(limit.capacity(), limit.fullMicros());
        };
    }
}

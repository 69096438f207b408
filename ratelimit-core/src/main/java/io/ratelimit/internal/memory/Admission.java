package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitDecision;

/**
 * Describes whether the limit's rule admits a call, by what it has counted: now, after a delay, or not.
 *
 * @param untilThere how long the permits take to be there; 0 if they are, or never can be
 * @param fits whether the permits are there, or can be reserved ahead
 * @param delay before the call goes on, if it fits
 */
record Admission(CompiledLimit limit, long permits, long untilThere, boolean fits, long delay) {

    /**
     * A pure function.
     *
     * @param usage that has been through {@link Rule#recover} at this time
     */
    static <U extends Usage> Admission of(CompiledLimit limit, Rule<U> rule, U usage, long now, long permits) {
        long capacity = limit.capacity();
        boolean there = permits == 0 || permits > capacity || permits <= capacity - rule.used(usage, now);
        long untilThere = there ? 0 : rule.timeUntil(capacity - permits, usage, now);
        boolean fits = permits <= capacity && untilThere <= limit.aheadMicros();
        boolean comesLast = limit.spacesOut() && permits > 0;
        return new Admission(limit, permits, untilThere, fits, comesLast ? rule.resetAfter(usage, now) : untilThere);
    }

    /** Returns how many permits the call takes, if nothing else rejects it. */
    long taken() {
        return fits ? permits : 0;
    }

    /** Returns whether the call is rejected and might have fit. A call that never fits is a mistake of its caller. */
    boolean isViolation() {
        return !fits && permits <= limit.capacity();
    }

    /** 0 if it fits, -1 if it never can. */
    long retryAfter() {
        if (fits) {
            return 0;
        }
        return permits > limit.capacity() ? -1 : untilThere - limit.aheadMicros();
    }

    /** @param blockedMicros until the key is no longer blocked, however many permits there are */
    RateLimitDecision rejection(long blockedMicros, long resetAfter) {
        return RateLimitDecision.ofMicros(
                limit.capacity(),
                0,
                0,
                permits > limit.capacity() ? -1 : blockedMicros,
                Math.max(blockedMicros, resetAfter));
    }

    /**
     * @param used in the end
     * @param resetAfter in the end
     */
    RateLimitDecision decision(long used, long resetAfter) {
        return RateLimitDecision.ofMicros(
                limit.capacity(), Math.max(0, limit.capacity() - used), fits ? delay : 0, retryAfter(), resetAfter);
    }
}

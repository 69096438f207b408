package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitDecision;

/**
 * Finds out whether the limit's rule admits a call, by what it has counted: now, after a delay, or not. Not a value, so that the
 * compiler can do without the object, whichever rule has counted.
 */
final class Admission {

    private final CompiledLimit limit;

    private final long permits;

    /** Before the call goes on, if it is admitted. */
    private long delay;

    /** 0 if the call is admitted, -1 if it never can be. */
    private long retryAfter;

    private long used;

    private long resetAfter;

    Admission(CompiledLimit limit, long permits) {
        this.limit = limit;
        this.permits = permits;
    }

    /** @param usage before the call, that has been through {@link Rule#recover} at this time */
    <U extends Usage> void begin(Rule<U> rule, U usage, long now) {
        long capacity = limit.capacity();
        boolean there = permits == 0 || permits > capacity || permits <= capacity - rule.used(usage, now);
        long untilThere = there ? 0 : rule.timeUntil(capacity - permits, usage, now);
        boolean comesLast = limit.spacesOut() && permits > 0;
        retryAfter = permits > capacity ? -1 : Math.max(0, untilThere - limit.aheadMicros());
        delay = retryAfter != 0 ? 0 : comesLast ? rule.resetAfter(usage, now) : untilThere;
    }

    /** Sets what the rule says after the call. */
    void end(long used, long resetAfter) {
        this.used = used;
        this.resetAfter = resetAfter;
    }

    /** Returns whether the permits are there, or can be reserved ahead. */
    boolean fits() {
        return retryAfter == 0;
    }

    /** Returns how many permits the call takes, if nothing else rejects it. */
    long taken() {
        return fits() ? permits : 0;
    }

    /** Returns whether the call is rejected and blocks its key. A call that never fits is a mistake of its caller. */
    boolean blocksKey() {
        return retryAfter > 0 && !limit.blockFor().isEmpty();
    }

    /**
     * Returns after how long a rejected caller is told to try again, or -1.
     *
     * @param blockedMicros until the key is no longer blocked
     */
    long retryAfter(long blockedMicros) {
        return retryAfter >= 0 && blockedMicros > 0 ? blockedMicros : retryAfter;
    }

    /** @param blockedMicros until the key is no longer blocked, however many permits there are */
    RateLimitDecision rejection(long blockedMicros) {
        return RateLimitDecision.ofMicros(
                limit.capacity(), 0, 0, retryAfter(blockedMicros), Math.max(blockedMicros, resetAfter));
    }

    RateLimitDecision decision() {
        return RateLimitDecision.ofMicros(
                limit.capacity(), Math.max(0, limit.capacity() - used), delay, retryAfter, resetAfter);
    }
}

package io.ratelimit.internal.memory;

/** What is used of a bucket, as one rule counts it. Immutable. */
interface Usage {

    /**
     * Microseconds of the epoch. What it is the time of depends on the rule, but it is never later than the last charge.
     */
    long since();

    /** What is to be known of it to undo the charge after which it was so. */
    CounterState receipt();

    /** Whether the state must be kept although nothing may be used, because refunds that are to come depend on it. */
    default boolean remembersRefunds() {
        return false;
    }
}

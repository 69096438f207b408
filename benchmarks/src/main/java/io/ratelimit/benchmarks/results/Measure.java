package io.ratelimit.benchmarks.results;

/** What is known of a contestant after a turn. */
public enum Measure {
    /** Of the floor's turns beside it: calls in the same time. */
    THROUGHPUT,
    /** Of the floor's turns beside it: time for a call. */
    COST,
    /** Time for a call in nanoseconds, of one thread. */
    NANOS,
    /** Calls a second, of all threads. */
    CALLS,
    /** Microseconds within which 99 of 100 calls return. */
    P99_MICROS,
    /** Bytes allocated for a call. */
    ALLOCATED,
    /** The share of calls that failed, or were decided otherwise than the row requires. */
    WRONG,
    /** Scripts and functions that Redis ran for a decision. */
    SCRIPTS,
    /** Microseconds of scripts and functions for a decision. */
    SCRIPT_MICROS,
    /** Microseconds of Redis' CPU for a decision. */
    CPU_MICROS,
    /** Microseconds of the client's CPU for a decision, compilers apart. */
    CLIENT_MICROS,
    /** Bytes that Redis received for a decision. */
    BYTES_TO_REDIS,
    /** Bytes that Redis sent for a decision. */
    BYTES_FROM_REDIS,
    /** Decisions a second that would keep a core of Redis busy, by its CPU for one. */
    CALLS_OF_A_CORE,
    /** Keys of a server. */
    KEYS,
    /** Bytes of {@code used_memory} for a key, after one call. */
    USED_MEMORY,
    /** Bytes of {@code MEMORY USAGE} for a key, after one call. */
    BYTES,
    /** Bytes of {@code MEMORY USAGE} for a key, after as many calls as it may make. */
    BYTES_USED_UP,
    /** Bytes of the heap for a key. */
    HEAP,
    /** Milliseconds until the application has started. */
    START_MILLIS;

    /** Whether the smaller of two values is the better one. */
    boolean lessIsBetter() {
        return this != THROUGHPUT && this != CALLS;
    }

    /** Whether it is a ratio to the floor, whose own is 1. */
    boolean isRatio() {
        return this == THROUGHPUT || this == COST;
    }
}

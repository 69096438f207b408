package io.ratelimit.benchmarks.results;

/** What is known of a contestant after a turn. */
public enum Measure {
    /** Of the floor's turns beside it: calls in the same time. */
    THROUGHPUT,
    /** Of the floor's turns beside it: time for a call. */
    COST,
    /** Time for a call in nanoseconds, of one thread. */
    NANOS,
    /** Bytes allocated for a call. */
    ALLOCATED,
    /** The share of calls that failed, or were decided otherwise than the line says. */
    WRONG,
    /** Scripts that Redis ran for a decision. */
    SCRIPTS,
    /** Microseconds of scripts for a decision. */
    SCRIPT_MICROS,
    /** Of the floor's: time of scripts for a decision. */
    SCRIPT_COST,
    /** Microseconds of Redis' CPU for a decision. */
    CPU_MICROS,
    /** Of the floor's: Redis' CPU for a decision. */
    CPU_COST,
    /** Bytes held for a key, after one call. */
    BYTES,
    /** Bytes held for a key, after as many calls as it may make. */
    BYTES_USED_UP,
    /** Milliseconds until the application has started. */
    START_MILLIS
}

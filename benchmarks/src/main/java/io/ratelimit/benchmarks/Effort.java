package io.ratelimit.benchmarks;

/**
 * How long everything takes.
 *
 * @param turnMillis a turn
 * @param warmUps rounds before any counts
 * @param rounds that count
 * @param keys of the largest population
 * @param starts of an application, of each kind
 */
record Effort(int turnMillis, int warmUps, int rounds, int keys, int starts) {

    /** About 14 minutes on two cores. */
    static final Effort FULL = new Effort(100, 10, 25, 1_000_000, 5);

    /** About 3 minutes: whether everything works, and a first look. */
    static final Effort QUICK = new Effort(50, 8, 5, 100_000, 1);
}

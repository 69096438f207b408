package io.ratelimit.benchmarks;

/**
 * How long everything takes.
 *
 * @param turnMillis a turn
 * @param warmUps rounds before any counts
 * @param redisWarmUps the same through Redis: in a turn are a hundredth of the calls, and the compiler counts them
 * @param rounds that count
 * @param longTurnMillis a turn of a race that has long ones
 * @param longRounds of such a race that count, after one that does not
 * @param keys of the largest population
 * @param starts of an application, of each kind
 */
record Effort(
        int turnMillis,
        int warmUps,
        int redisWarmUps,
        int rounds,
        int longTurnMillis,
        int longRounds,
        int keys,
        int starts) {

    /** About 15 minutes on two cores. */
    static final Effort FULL = new Effort(100, 15, 30, 16, 6_000, 2, 1_000_000, 3);

    /** About 3 minutes: whether everything works, and a first look. */
    static final Effort QUICK = new Effort(50, 8, 8, 5, 1_000, 1, 100_000, 1);
}

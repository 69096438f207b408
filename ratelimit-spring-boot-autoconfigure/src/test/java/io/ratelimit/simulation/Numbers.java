package io.ratelimit.simulation;

import java.util.List;

/**
 * The numbers of a limit, as one call is decided by them.
 *
 * @param rate permits in a microsecond
 * @param window the time in which the capacity comes back
 */
record Numbers(
        Kind kind,
        long capacity,
        double rate,
        long window,
        long maxWait,
        List<Long> blockFor,
        boolean dryRun,
        long lease,
        long hold) {

    /** How an algorithm forgets what was taken. */
    enum Kind {
        /** Little by little. */
        EVEN,
        /** In batches. */
        BATCHES,
        /** At the end of windows. Two may follow each other at once. */
        WINDOWS,
        /** As windows. What is refunded may not come back before their end. */
        OWN,
        /** Exactly one window later. */
        LOG,
        /** When the call ends. */
        CONCURRENCY
    }
}

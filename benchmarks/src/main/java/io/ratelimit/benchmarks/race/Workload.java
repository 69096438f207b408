package io.ratelimit.benchmarks.race;

import java.util.Locale;

/**
 * How calls arrive.
 *
 * @param threads that call at the same time
 * @param keys among which each call draws one; 0 if contestants have keys of their own
 */
public record Workload(int threads, int keys) {

    /** As it is named in the results. */
    public String label() {
        String callers = threads == 1 ? "1 thread" : threads + " threads";
        return switch (keys) {
            case 0 -> callers;
            case 1 -> callers + ", one key";
            default -> callers + String.format(Locale.ROOT, ", %,d keys", keys);
        };
    }
}

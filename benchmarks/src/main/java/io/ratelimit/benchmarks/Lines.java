package io.ratelimit.benchmarks;

import java.util.List;
import java.util.Set;

/** Which lines of the results are wanted. */
record Lines(Set<Integer> wanted) {

    static final Lines ALL = new Lines(Set.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));

    /** Redis' own numbers, seen in the races of other lines. */
    static final int SERVER = 9;

    static final List<Heat> SERVER_HEATS = List.of(Heat.REDIS_1, Heat.REDIS_32, Heat.REDIS_KEYS_32);

    static final int FOOTPRINT = 8;

    static final int GROWTH = 10;

    /** @throws IllegalArgumentException if there is no such line */
    static Lines only(int line) {
        if (!ALL.has(line)) {
            throw new IllegalArgumentException("There is no line " + line);
        }
        return new Lines(Set.of(line));
    }

    boolean has(int line) {
        return wanted.contains(line);
    }

    boolean has(Heat heat) {
        return has(heat.line()) || (has(SERVER) && SERVER_HEATS.contains(heat));
    }
}

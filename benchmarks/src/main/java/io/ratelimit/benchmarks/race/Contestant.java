package io.ratelimit.benchmarks.race;

import org.openjdk.jmh.infra.Blackhole;

/**
 * A library that decides about calls. One class each, so that its set-up can be read and judged; all do the same work: one
 * permit, from the bucket of one key.
 */
public interface Contestant extends AutoCloseable {

    /** As it stands in the results. */
    String name();

    /**
     * Decides about one call, by many threads at once.
     *
     * @param sink takes what was made for the caller, which could be optimised away otherwise
     * @return whether the call is allowed
     */
    boolean call(String key, Blackhole sink);

    /** Is called once, before the first turn. */
    default void prepare(Blackhole sink) {}

    /** Makes a bucket for each key. */
    default void touch(String[] keys, Blackhole sink) {
        for (String key : keys) {
            call(key, sink);
        }
    }

    /** May be called again: contestants share what they close. */
    @Override
    default void close() {}
}

package io.ratelimit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * An algorithm of the application. A bean of this type is used as {@code algorithm: my-name} in application.yml, or by
 * {@link RateLimitBuilder#algorithm(RateLimitAlgorithm)}. It consists of pure functions of a rule, a state and a time: these
 * methods for the in-memory store, and a Lua part with the same functions for Redis. {@code docs/own-algorithms.md} explains how
 * to write one and test both.
 *
 * <p>Both stores admit a call for n permits if {@code n <= capacity - used}. They call the functions with a state that has been
 * through {@link #recover} at the same time, except for {@code recover} itself. Times are microseconds of the epoch and never go
 * back within a bucket. If a function throws, or returns what it must not, the store fails for the calls of this limit, and
 * {@code on-store-failure} applies to them.
 */
public interface RateLimitAlgorithm {

    /** Returns the name: letters, digits, {@code -} and {@code _}. Case, {@code -} and {@code _} do not distinguish names. */
    String name();

    /**
     * Returns the Lua part, which is called for the Redis store alone. By default it is the resource beside the class with the
     * class's simple name and the extension {@code .lua}.
     *
     * @throws IllegalStateException if there is no such resource
     */
    default String luaPart() {
        String resource = getClass().getSimpleName() + ".lua";
        try (InputStream in = getClass().getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(
                        "there is no " + resource + " beside " + getClass().getName());
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Returns the state without the permits that have come back. If nothing is used any more, that is
     * {@code new State(0, now, 0)}: a state with {@code used} 0 is forgotten.
     */
    State recover(Rule rule, State state, long now);

    /**
     * Returns the microseconds, at least 1, until {@link #used} is no more than {@code most} if no more permits are taken. Called
     * while more are used.
     */
    long timeUntil(Rule rule, State state, long now, long most);

    /** Returns the permits that are not available now; by default {@link State#used()}. */
    default long used(Rule rule, State state, long now) {
        return state.used();
    }

    /**
     * Returns the state after permits were taken. These may be more than are available, because the actual cost of a call can be
     * known after the call alone. By default, {@code used} grows.
     *
     * @param permits at least 1
     */
    default State take(Rule rule, State state, long now, long permits) {
        return new State(state.used() + permits, state.since(), state.rest());
    }

    /**
     * Returns the state after permits were refunded. By default, {@code used} shrinks.
     *
     * @param permits from 1 to {@code state.used()}
     */
    default State refund(Rule rule, State state, long now, long permits) {
        return new State(state.used() - permits, state.since(), state.rest());
    }

    /**
     * Returns the microseconds, at least 1, until {@link #recover} returns a state with {@code used} 0, if no more permits are
     * taken. Called while {@code used} is more. By default the time until 0 permits are used, which is right unless {@link #used}
     * is overridden.
     */
    default long resetAfter(Rule rule, State state, long now) {
        return timeUntil(rule, state, now, 0);
    }

    /**
     * What is remembered of a bucket: whole numbers from 0, below 2^53.
     *
     * @param used permits that have been taken and are not back; 0: the bucket is as if it had never been used
     * @param since a time, not later than now; of an unused bucket: now
     * @param rest what else the algorithm remembers
     */
    record State(long used, long since, long rest) {}

    /**
     * The numbers of a limit. The product of {@code used} and {@code periodMicros} is at most 2^52, so it is exact in Lua, too.
     *
     * @param capacity the maximum number of permits available at once
     * @param permits of the rate in lowest terms
     * @param periodMicros microseconds in which so many permits come back on average
     */
    record Rule(long capacity, long permits, long periodMicros) {}
}

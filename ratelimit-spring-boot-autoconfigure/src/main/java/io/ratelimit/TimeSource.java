package io.ratelimit;

/**
 * The clock of the in-memory store. A bean of this type replaces the default, {@link #monotonic()}. The Redis store
 * never asks it: there the time is the server's.
 */
@FunctionalInterface
public interface TimeSource {

    /** The time in microseconds, counted from the epoch. */
    long micros();

    /** A clock that starts at the wall clock's time and never goes back. */
    static TimeSource monotonic() {
        long nanos = System.nanoTime();
        long micros = System.currentTimeMillis() * 1_000;
        return () -> micros + (System.nanoTime() - nanos) / 1_000;
    }
}

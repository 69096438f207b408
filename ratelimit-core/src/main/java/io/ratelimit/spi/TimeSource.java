package io.ratelimit.spi;

/**
 * Provides the time to the in-memory store. A bean of this type replaces the default, {@link #monotonic()}. The Redis store
 * uses the clock of the server instead.
 */
@FunctionalInterface
public interface TimeSource {

    /** Returns the time in microseconds since the epoch. */
    long micros();

    /** Returns a clock that starts at the time of the wall clock and never goes back. */
    static TimeSource monotonic() {
        long nanos = System.nanoTime();
        long micros = System.currentTimeMillis() * 1_000;
        return () -> micros + (System.nanoTime() - nanos) / 1_000;
    }
}

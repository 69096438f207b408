package io.ratelimit.spi;

/**
 * Provides the time to the in-memory store. A bean of this type replaces the default, {@link #monotonic()}. The Redis store
 * uses the clock of the server instead.
 */
@FunctionalInterface
public interface TimeSource {

    /** Returns the time in microseconds since the epoch. */
    long micros();

    /**
     * Returns the time in microseconds since the epoch.
     *
     * @param nanos what {@link System#nanoTime()} has just returned, for clocks that would read it
     */
    default long micros(long nanos) {
        return micros();
    }

    /** Returns a clock that starts at the time of the wall clock and never goes back. */
    static TimeSource monotonic() {
        long start = System.nanoTime();
        long micros = System.currentTimeMillis() * 1_000;
        return new TimeSource() {
            @Override
            public long micros() {
                return micros(System.nanoTime());
            }

            @Override
            public long micros(long nanos) {
                return micros + (nanos - start) / 1_000;
            }
        };
    }
}

package io.ratelimit.internal.statistics;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;

/**
 * Divides time into intervals that begin at the same moments on all instances, whatever their clocks say. Runs with the
 * monotonic clock of this instance, and is set by the clock that the instances share.
 */
final class IntervalClock {

    static final Duration STEP = Duration.ofSeconds(5);

    static final long STEP_MICROS = STEP.toNanos() / 1_000;

    private final LongSupplier nanos;

    /** The shared time minus the monotonic time. */
    private volatile long offsetMicros;

    /** @param epochMicros the time, as far as this instance knows it */
    IntervalClock(LongSupplier nanos, long epochMicros) {
        this.nanos = nanos;
        this.offsetMicros = epochMicros - nanos.getAsLong() / 1_000;
    }

    long nanos() {
        return nanos.getAsLong();
    }

    /** Returns the time in microseconds since 1970. */
    long micros() {
        return at(nanos.getAsLong());
    }

    /** Returns the time at a moment of the monotonic clock. */
    long at(long moment) {
        return moment / 1_000 + offsetMicros;
    }

    /** Returns the number of the present interval, which is its place among those since 1970. */
    long interval() {
        return intervalAt(micros());
    }

    static long intervalAt(long micros) {
        return Math.floorDiv(micros, STEP_MICROS);
    }

    static Instant begin(long interval) {
        return Instant.EPOCH.plusMillis(interval * STEP.toMillis());
    }

    static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /**
     * Sets the clock, unless it is right already.
     *
     * @param earliest the shared time is not before
     * @param latest nor after
     * @return by how many whole intervals the clock has moved: none by what separates clocks ordinarily
     */
    synchronized long synchronize(long earliest, long latest) {
        long now = micros();
        long correction = now < earliest ? earliest - now : now > latest ? latest - now : 0;
        offsetMicros += correction;
        return Math.round((double) correction / STEP_MICROS);
    }
}

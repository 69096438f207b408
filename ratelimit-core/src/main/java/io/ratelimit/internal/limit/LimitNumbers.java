package io.ratelimit.internal.limit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The numbers that stores count with: those of a valid limit, computed once for it.
 *
 * @param capacity the maximum number of permits available at once
 * @param permits how many permits come back in {@code periodMicros}, as the rate is written; without a rate, the capacity
 * @param periodMicros of a calendar unit its longest length; without a rate, the time after which held permits come back
 * @param rate the rate in lowest terms; {@code null}: permits come back when calls end
 * @param fullMicros {@code capacity / rate}, rounded up; 0 without a rate
 * @param calendar {@code null}: the period of the rate is no calendar unit
 */
public record LimitNumbers(
        AlgorithmTraits traits,
        long capacity,
        long permits,
        long periodMicros,
        @Nullable ReducedRate rate,
        long fullMicros,
        @Nullable CalendarWindows calendar) {

    /** Returns the rate in lowest terms, of a limit that has one. */
    public ReducedRate reducedRate() {
        return Objects.requireNonNull(rate);
    }

    /** Permits that come back together, and how long after they were taken. */
    public record Batch(long permits, long micros) {

        /** Formats the batch in the syntax of a rate. */
        @Override
        public String toString() {
            return permits + "/" + Duration.of(micros, ChronoUnit.MICROS);
        }
    }
}

package io.ratelimit.internal.limit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
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

    /**
     * Returns the rate in lowest terms, for calculations.
     *
     * @throws IllegalStateException if the limit has none
     */
    public ReducedRate reducedRate() {
        if (rate == null) {
            throw new IllegalStateException("The limit has no rate: its permits come back when calls end");
        }
        return rate;
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

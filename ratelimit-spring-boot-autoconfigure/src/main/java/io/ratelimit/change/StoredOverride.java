package io.ratelimit.change;

import io.ratelimit.RateLimitOverride;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * An override as it is stored.
 *
 * @param version the microsecond of the change by the store's clock, or later, so that it grows even if all overrides of a limit
 *     were removed meanwhile
 * @param endMicros the time of its end by the store's clock; 0: it does not end by itself
 * @param attributes {@code null}: this version of the starter cannot read them
 */
record StoredOverride(
        long version,
        long endMicros,
        @Nullable RateLimitOverride attributes,
        @Nullable String principal) {

    /** Returns the time of its end, or {@code null} if it does not end by itself. */
    @Nullable
    Instant until() {
        return endMicros == 0 ? null : Instant.EPOCH.plus(endMicros, ChronoUnit.MICROS);
    }

    static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}

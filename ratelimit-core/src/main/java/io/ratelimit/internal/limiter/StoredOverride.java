package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimitOverride;
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
public record StoredOverride(
        long version,
        long endMicros,
        @Nullable RateLimitOverride attributes,
        @Nullable String principal) {

    /** Returns the time of its end, or {@code null} if it does not end by itself. */
    public @Nullable Instant until() {
        return endMicros == 0 ? null : Instant.EPOCH.plus(endMicros, ChronoUnit.MICROS);
    }

    /**
     * Returns whether its time is over.
     *
     * @param nowMicros the time by the store's clock
     */
    public boolean hasEnded(long nowMicros) {
        return endMicros != 0 && endMicros <= nowMicros;
    }
}

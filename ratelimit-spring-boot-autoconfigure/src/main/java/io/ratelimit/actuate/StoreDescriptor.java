package io.ratelimit.actuate;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.store.StoreFailure;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Describes the store.
 *
 * @param kind {@code redis}, {@code in-memory} or {@code custom}
 * @param state {@code shared}: all instances share the limits; {@code instance}: each applies them on its own;
 *     {@code on-store-failure}: the store fails, and the policy applies
 * @param reason why it fails; {@code null} if it does not
 * @param error the message of the failure
 * @param since when the first call was not decided
 */
public record StoreDescriptor(
        String kind,
        String state,
        @Nullable String reason,
        @Nullable String error,
        @Nullable Instant since) {

    /** Describes a store in memory. */
    public static StoreDescriptor inMemory() {
        return new StoreDescriptor("in-memory", "instance", null, null, null);
    }

    /** Describes a store that instances share. A failure that concerns single buckets does not count. */
    public static StoreDescriptor shared(String kind, List<StoreFailure> failures) {
        return failures.stream()
                .filter(failure -> failure.reason() != Reason.FOREIGN_VALUE && failure.reason() != Reason.ALGORITHM)
                .findFirst()
                .map(failure -> new StoreDescriptor(
                        kind,
                        "on-store-failure",
                        failure.reason().name().toLowerCase(Locale.ROOT),
                        failure.message(),
                        failure.since()))
                .orElseGet(() -> new StoreDescriptor(kind, "shared", null, null, null));
    }
}

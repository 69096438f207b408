package io.ratelimit.actuate;

import io.ratelimit.spi.StoreFailure;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Describes {@code /actuator/health/ratelimit}, independently of the version of Spring Boot.
 *
 * @param status {@code UP} or {@code DOWN}
 */
public record RateLimitHealth(String status, Map<String, Object> details) {

    private static final String UP = "UP";

    /**
     * Derives the health from the failures of the store. A failure that concerns single buckets does not affect it.
     *
     * @param failures the failures of the store
     * @param storeFailure the status while the store fails
     */
    public static RateLimitHealth of(List<StoreFailure> failures, String storeFailure) {
        boolean failing = StoreDescriptor.ofWholeStores(failures).findFirst().isPresent();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("limits", failing ? "on-store-failure" : "shared");
        if (!failures.isEmpty()) {
            details.put(
                    "failures", failures.stream().map(RateLimitHealth::describe).toList());
        }
        return new RateLimitHealth(failing ? storeFailure : UP, details);
    }

    private static Map<String, Object> describe(StoreFailure failure) {
        Map<String, Object> description = new LinkedHashMap<>();
        if (failure.redis() != null) {
            description.put("redis", failure.redis());
        }
        description.put("reason", failure.reason().name().toLowerCase(Locale.ROOT));
        description.put("error", failure.message());
        if (failure.latest() != null) {
            description.put("latestReason", failure.latest().reason().name().toLowerCase(Locale.ROOT));
            description.put("latestError", failure.latest().message());
        }
        description.put("since", failure.since().toString());
        description.put("calls", failure.calls());
        return description;
    }
}

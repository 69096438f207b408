package io.ratelimit.actuate;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.store.StoreFailure;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code /actuator/health/ratelimit} says, in the terms of no generation of Spring Boot.
 *
 * @param status its code, {@code UP} or {@code DOWN}
 */
public record RateLimitHealth(String status, Map<String, Object> details) {

    private static final String UP = "UP";

    /**
     * What is wrong with a bucket only leaves the limits shared, and the application healthy.
     *
     * @param troubles of the store
     * @param storeFailure the status while it cannot decide
     */
    public static RateLimitHealth of(List<StoreFailure> troubles, String storeFailure) {
        boolean failing = troubles.stream().anyMatch(trouble -> trouble.reason() != Reason.FOREIGN_VALUE);
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("limits", failing ? "on-store-failure" : "shared");
        if (!troubles.isEmpty()) {
            details.put(
                    "troubles", troubles.stream().map(RateLimitHealth::describe).toList());
        }
        return new RateLimitHealth(failing ? storeFailure : UP, details);
    }

    private static Map<String, Object> describe(StoreFailure trouble) {
        Map<String, Object> description = new LinkedHashMap<>();
        description.put("reason", trouble.reason().name().toLowerCase(Locale.ROOT));
        description.put("error", trouble.message());
        description.put("since", trouble.since().toString());
        description.put("calls", trouble.calls());
        return description;
    }
}

package io.ratelimit.actuate;

import io.ratelimit.RateLimit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** {@code /actuator/ratelimits}: the limits as they are in force, and the methods that they are on. */
@Endpoint(id = "ratelimits")
public final class RateLimitsEndpoint {

    private final Supplier<List<RateLimit>> limits;

    private final Supplier<Map<String, List<String>>> methods;

    /** @param methods the methods of each limit, by the limit's name */
    public RateLimitsEndpoint(Supplier<List<RateLimit>> limits, Supplier<Map<String, List<String>>> methods) {
        this.limits = limits;
        this.methods = methods;
    }

    /** All limits, by name. */
    @ReadOperation
    public LimitsDescriptor limits() {
        Map<String, List<String>> places = methods.get();
        Map<String, LimitDescriptor> descriptors = new TreeMap<>();
        limits.get()
                .forEach(limit ->
                        descriptors.put(limit.name(), describe(limit, places.getOrDefault(limit.name(), List.of()))));
        return new LimitsDescriptor(descriptors);
    }

    private static LimitDescriptor describe(RateLimit limit, List<String> places) {
        return new LimitDescriptor(
                limit.algorithm().name(),
                limit.capacity(),
                limit.rate().toString(),
                limit.refill().name(),
                limit.maxWait().toString(),
                limit.enabled(),
                limit.dryRun(),
                limit.onStoreFailure().name(),
                places);
    }

    /** The answer. */
    public record LimitsDescriptor(Map<String, LimitDescriptor> limits) {}

    /** One limit, as it is in force. */
    public record LimitDescriptor(
            String algorithm,
            long capacity,
            String rate,
            String refill,
            String maxWait,
            boolean enabled,
            boolean dryRun,
            String onStoreFailure,
            List<String> methods) {}
}

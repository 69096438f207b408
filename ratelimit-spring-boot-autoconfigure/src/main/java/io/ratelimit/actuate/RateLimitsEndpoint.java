package io.ratelimit.actuate;

import io.ratelimit.RateLimit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** {@code /actuator/ratelimits}: the limits as they are in force, and the methods and requests that they are on. */
@Endpoint(id = "ratelimits")
public final class RateLimitsEndpoint {

    private final Supplier<List<RateLimit>> limits;

    private final Supplier<Map<String, List<String>>> methods;

    private final Supplier<Map<String, List<String>>> requests;

    private final Function<String, @Nullable String> pointcuts;

    /**
     * @param methods the methods of each limit, by the limit's name
     * @param requests the requests of each limit, by the limit's name
     * @param pointcuts the pointcut of a limit; {@code null}: it has none
     */
    public RateLimitsEndpoint(
            Supplier<List<RateLimit>> limits,
            Supplier<Map<String, List<String>>> methods,
            Supplier<Map<String, List<String>>> requests,
            Function<String, @Nullable String> pointcuts) {
        this.limits = limits;
        this.methods = methods;
        this.requests = requests;
        this.pointcuts = pointcuts;
    }

    /** All limits, by name. */
    @ReadOperation
    public LimitsDescriptor limits() {
        Map<String, List<String>> ofMethods = methods.get();
        Map<String, List<String>> ofRequests = requests.get();
        Map<String, LimitDescriptor> descriptors = new TreeMap<>();
        for (RateLimit limit : limits.get()) {
            descriptors.put(
                    limit.name(),
                    describe(
                            limit,
                            ofMethods.getOrDefault(limit.name(), List.of()),
                            ofRequests.getOrDefault(limit.name(), List.of())));
        }
        return new LimitsDescriptor(descriptors);
    }

    private LimitDescriptor describe(RateLimit limit, List<String> methods, List<String> requests) {
        return new LimitDescriptor(
                limit.algorithm().name(),
                limit.capacity(),
                limit.rate().toString(),
                limit.refill().name(),
                limit.maxWait().toString(),
                limit.lease(),
                limit.enabled(),
                limit.dryRun(),
                limit.onStoreFailure().name(),
                pointcuts.apply(limit.name()),
                methods,
                requests);
    }

    /** The answer. */
    public record LimitsDescriptor(Map<String, LimitDescriptor> limits) {}

    /**
     * One limit, as it is in force.
     *
     * @param pointcut where the configuration limits methods by one
     * @param requests the requests that the configuration limits, {@code POST /login}
     */
    public record LimitDescriptor(
            String algorithm,
            long capacity,
            String rate,
            String refill,
            String maxWait,
            long lease,
            boolean enabled,
            boolean dryRun,
            String onStoreFailure,
            @Nullable String pointcut,
            List<String> methods,
            List<String> requests) {}
}

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

/** Serves {@code /actuator/ratelimits}: the effective limits, and the methods and requests that each applies to. */
@Endpoint(id = "ratelimits")
public final class RateLimitsEndpoint {

    private final Supplier<List<RateLimit>> limits;

    private final Supplier<Map<String, List<String>>> methods;

    private final Supplier<Map<String, List<String>>> requests;

    private final Function<String, @Nullable String> pointcuts;

    /**
     * Creates the endpoint.
     *
     * @param methods supplies the methods of each limit, by the limit's name
     * @param requests supplies the requests of each limit, by the limit's name
     * @param pointcuts returns the pointcut of a limit, or {@code null}
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

    /** Returns all limits, by name. */
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

    /** Describes all limits, by name. */
    public record LimitsDescriptor(Map<String, LimitDescriptor> limits) {}

    /**
     * Describes an effective limit.
     *
     * @param pointcut the pointcut of the configuration, if there is one
     * @param requests the requests that URL rules limit, such as {@code POST /login}
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

package io.ratelimit.web.function;

import io.ratelimit.web.servlet.RouteLimiter;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.ServerResponse;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * Filters for functional endpoints of Spring MVC, and for routes of Spring Cloud Gateway on it:
 *
 * <pre>{@code
 * route().GET("/quotes", request -> …).filter(rateLimit("quotes")).build()
 * }</pre>
 */
public final class RateLimitFilterFunctions {

    private RateLimitFilterFunctions() {}

    /**
     * Applies a limit to the requests of a route. A rejected request is answered as one that a URL rule rejects. A request that has
     * been charged for the limit and the same key before, by a URL rule, is not charged again.
     *
     * @param limit the name of the limit, wherever it is declared. Its expressions read what those of a URL rule can read
     */
    public static HandlerFilterFunction<ServerResponse, ServerResponse> rateLimit(String limit) {
        Objects.requireNonNull(limit, "limit");
        // One filter may serve several applications, and a request tells the present one. If limits are disabled, there
        // is no limiter.
        Map<ApplicationContext, Optional<RouteLimiter>> limiters = new ConcurrentReferenceHashMap<>();
        return (request, next) -> {
            Optional.ofNullable(RequestContextUtils.findWebApplicationContext(request.servletRequest()))
                    .flatMap(context -> limiters.computeIfAbsent(
                            context,
                            key -> key.getBeanProvider(RouteLimiter.class).stream()
                                    .findFirst()))
                    .ifPresent(limiter -> limiter.enter(limit, request.pathVariables(), request.servletRequest()));
            return next.handle(request);
        };
    }
}

package io.ratelimit.web.function;

import io.ratelimit.web.servlet.RouteLimiter;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.ServerRequest;
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
        AtomicReference<ContextLimiter> known = new AtomicReference<>(new ContextLimiter(null, null));
        return (request, next) -> {
            ApplicationContext context = RequestContextUtils.findWebApplicationContext(request.servletRequest());
            ContextLimiter limiter = known.get();
            if (context != limiter.context()) {
                limiter = ContextLimiter.of(context);
                known.set(limiter);
            }
            return limiter.routes() == null ? next.handle(request) : handle(limiter.routes(), limit, request, next);
        };
    }

    private static ServerResponse handle(
            RouteLimiter limiter, String limit, ServerRequest request, HandlerFunction<ServerResponse> next)
            throws Exception {
        HttpServletRequest servletRequest = request.servletRequest();
        var attributes = (ServletRequestAttributes) RequestContextHolder.currentRequestAttributes();
        RouteLimiter.Handled handled = limiter.enter(
                limit,
                request.pathVariables(),
                servletRequest,
                Objects.requireNonNull(attributes.getResponse(), "response"));
        boolean answered = false;
        try {
            ServerResponse response = next.handle(request);
            answered = true;
            return response;
        } finally {
            handled.returned(answered);
        }
    }

    /**
     * Remembers the bean of the application that the filter serves, which is nearly always one.
     *
     * @param routes {@code null} if limits are disabled
     */
    private record ContextLimiter(
            @Nullable ApplicationContext context, @Nullable RouteLimiter routes) {

        static ContextLimiter of(@Nullable ApplicationContext context) {
            return new ContextLimiter(
                    context,
                    context == null
                            ? null
                            : context.getBeanProvider(RouteLimiter.class).getIfAvailable());
        }
    }
}

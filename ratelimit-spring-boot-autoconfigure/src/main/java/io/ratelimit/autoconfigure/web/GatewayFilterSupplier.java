package io.ratelimit.autoconfigure.web;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.web.function.RateLimitFilterFunctions;
import io.ratelimit.web.servlet.RouteLimiter;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.cloud.gateway.server.mvc.common.Shortcut;
import org.springframework.cloud.gateway.server.mvc.config.FilterProperties;
import org.springframework.cloud.gateway.server.mvc.config.GatewayMvcProperties;
import org.springframework.cloud.gateway.server.mvc.config.RouteProperties;
import org.springframework.cloud.gateway.server.mvc.filter.SimpleFilterSupplier;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Supplies the filter {@code RateLimit=quotes} to the routes that are configured for Spring Cloud Gateway on MVC, and checks the
 * limits that they name.
 */
final class GatewayFilterSupplier extends SimpleFilterSupplier implements SmartInitializingSingleton {

    private static final Pattern VARIABLE = Pattern.compile("\\{\\*?(\\w+)");

    private final ObjectProvider<GatewayMvcProperties> properties;

    private final ObjectProvider<RouteLimiter> limiter;

    /** @param limiter none if limits are disabled */
    GatewayFilterSupplier(ObjectProvider<GatewayMvcProperties> properties, ObjectProvider<RouteLimiter> limiter) {
        super(GatewayFilterSupplier.class);
        this.properties = properties;
        this.limiter = limiter;
    }

    /** Called by the gateway, by its name and that of its parameter. */
    @Reflective
    @Shortcut
    public static HandlerFilterFunction<ServerResponse, ServerResponse> rateLimit(String limit) {
        return RateLimitFilterFunctions.rateLimit(limit);
    }

    @Override
    public void afterSingletonsInstantiated() {
        limiter.ifAvailable(checks -> properties.ifAvailable(gateway -> {
            gateway.getRoutes().forEach(route -> check(String.valueOf(route.getId()), route, checks));
            gateway.getRoutesMap().forEach((id, route) -> check(id, route, checks));
        }));
    }

    private static void check(String id, RouteProperties route, RouteLimiter checks) {
        Set<String> variables = route.getPredicates().stream()
                .flatMap(predicate -> predicate.getArgs().values().stream())
                .flatMap(text -> VARIABLE.matcher(text).results())
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
        for (FilterProperties filter : route.getFilters()) {
            if ("RateLimit".equalsIgnoreCase(filter.getName())
                    && filter.getArgs().size() == 1) {
                try {
                    checks.limit(filter.getArgs().values().iterator().next(), variables);
                } catch (RateLimitConfigurationException ex) {
                    throw ex.at("route '" + id + "'");
                }
            }
        }
    }
}

package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;

/** Starts the URL rules at the end of the start-up. */
@FunctionalInterface
interface RequestLimiting {

    /** Starts the rules, and returns the requests of each limit, by the limit's name. */
    Map<String, List<String>> start();

    /**
     * Starts the rules of either kind of web application.
     *
     * @throws RateLimitConfigurationException if there are rules, but this is not a web application
     */
    static Map<String, List<String>> start(RateLimitProperties properties, ObjectProvider<RequestLimiting> web) {
        RequestLimiting limiting = web.getIfAvailable();
        if (limiting != null) {
            return limiting.start();
        }
        if (!properties.http().isEmpty()) {
            throw new RateLimitConfigurationException(
                    "ratelimit.http must be empty in an application without Spring MVC and WebFlux (was "
                            + properties.http().stream()
                                    .map(RateLimitProperties.Http::path)
                                    .toList() + ").",
                    "Remove it, or add spring-boot-starter-webmvc or spring-boot-starter-webflux.");
        }
        return Map.of();
    }
}

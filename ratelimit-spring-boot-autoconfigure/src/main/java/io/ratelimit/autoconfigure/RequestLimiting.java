package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;

/** Puts the limits of URLs into force, at the end of the start-up. */
@FunctionalInterface
interface RequestLimiting {

    /** Does so, and says which requests each limit has, by the limit's name. */
    Map<String, List<String>> start();

    /**
     * The same, in whatever kind of web application this is.
     *
     * @throws RateLimitConfigurationException if there are rules, and this is none
     */
    static Map<String, List<String>> start(RateLimitProperties properties, ObjectProvider<RequestLimiting> web) {
        RequestLimiting limiting = web.getIfAvailable();
        if (limiting != null) {
            return limiting.start();
        }
        if (!properties.http().isEmpty()) {
            throw new RateLimitConfigurationException(
                    "ratelimit.http[0] limits URLs, but this is neither a Spring MVC nor a WebFlux application.",
                    "Remove it, or add spring-boot-starter-webmvc or spring-boot-starter-webflux.");
        }
        return Map.of();
    }
}

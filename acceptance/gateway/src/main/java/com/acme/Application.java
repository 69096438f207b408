package com.acme;

import io.ratelimit.web.reactive.GatewayRateLimiter;
import java.util.List;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import reactor.core.publisher.Mono;

/** A gateway before a service of the suite. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @Bean
    KeyResolver apiKey() {
        return exchange -> Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst("X-Api-Key"));
    }

    /** The gateway tells a limiter the id of a route. With arguments, the route is known at start-up. */
    @Bean
    RouteLocator coded(
            RouteLocatorBuilder routes,
            @Qualifier("rateLimitGatewayLimiter") AbstractRateLimiter<GatewayRateLimiter.Config> limiter,
            KeyResolver apiKey,
            @Value("${upstream}") String upstream,
            @Value("${limit-of-argued:gateway-argued}") String limit) {
        GatewayRateLimiter.Config arguments = limiter.newConfig();
        arguments.setName(limit);
        limiter.getConfig().put("argued", arguments);
        RouteLocatorBuilder.Builder coded = routes.routes();
        for (String id : List.of("gateway-coded", "argued", "unknown")) {
            coded.route(id, route -> route.path("/" + id)
                    .filters(filters -> filters.requestRateLimiter(
                            filter -> filter.setRateLimiter(limiter).setKeyResolver(apiKey)))
                    .uri(upstream));
        }
        return coded.build();
    }

    /** Read by the suite. */
    @EventListener
    public void ready(ApplicationReadyEvent event) {
        System.out.println(
                "listening on " + event.getApplicationContext().getEnvironment().getProperty("local.server.port"));
    }
}

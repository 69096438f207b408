package io.ratelimit.web.reactive;

import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import reactor.core.publisher.Mono;

/** Allows every request, so that routes may name the rate limiter with {@code ratelimit.enabled=false}, too. */
public final class UnlimitedGatewayRateLimiter extends AbstractRateLimiter<GatewayRateLimiter.Config> {

    public UnlimitedGatewayRateLimiter(ConfigurationService configuration) {
        super(GatewayRateLimiter.Config.class, GatewayRateLimiter.ARGUMENTS, configuration);
    }

    @Override
    public Mono<Response> isAllowed(String routeId, String key) {
        return Mono.just(GatewayRateLimiter.ALLOWED);
    }
}

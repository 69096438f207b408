package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.aop.CallerRequest;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/** The request of a WebFlux exchange. */
public record PlainExchangeRequest(
        ServerWebExchange exchange, @Nullable Principal principal) implements CallerRequest {

    @Override
    public String clientIp() {
        InetSocketAddress remote = exchange.getRequest().getRemoteAddress();
        return remote == null || remote.getAddress() == null
                ? ""
                : remote.getAddress().getHostAddress();
    }

    @Override
    public @Nullable String header(String name) {
        return exchange.getRequest().getHeaders().getFirst(name);
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {}
}

package io.ratelimit.web.reactive;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.web.WebSettings;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/** The request of a WebFlux exchange. */
public final class ExchangeCallerRequest implements CallerRequest {

    private final ServerWebExchange exchange;

    private final @Nullable Principal principal;

    private final WebSettings settings;

    private final ExchangeHeaderRecord record;

    private ExchangeCallerRequest(ServerWebExchange exchange, @Nullable Principal principal, WebSettings settings) {
        this.exchange = exchange;
        this.principal = principal;
        this.settings = settings;
        this.record = ExchangeHeaderRecord.of(exchange, settings.headers());
    }

    /** The request as callers see it. What limits say is written to its response. */
    public static CallerRequest of(ServerWebExchange exchange, @Nullable Principal principal, WebSettings settings) {
        return new ExchangeCallerRequest(exchange, principal, settings);
    }

    @Override
    public String clientIp() {
        InetSocketAddress remote = exchange.getRequest().getRemoteAddress();
        if (remote == null) {
            return "";
        }
        return settings.clientAddresses()
                .normalize(
                        remote.getAddress() == null
                                ? remote.getHostString()
                                : remote.getAddress().getHostAddress());
    }

    @Override
    public @Nullable Principal principal() {
        return principal;
    }

    @Override
    public @Nullable String header(String name) {
        return exchange.getRequest().getHeaders().getFirst(name);
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
        record.add(charges, decisions);
    }
}

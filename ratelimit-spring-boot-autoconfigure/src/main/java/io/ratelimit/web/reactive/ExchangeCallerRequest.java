package io.ratelimit.web.reactive;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.spi.Charge;
import io.ratelimit.web.WebSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/** Answers expressions from a WebFlux exchange, and records what limits decide for its response headers. */
public final class ExchangeCallerRequest implements CallerRequest {

    private final ServerWebExchange exchange;

    private final @Nullable Principal principal;

    private final WebSettings settings;

    private final ExchangeHeaderRecord record;

    public ExchangeCallerRequest(ServerWebExchange exchange, @Nullable Principal principal, WebSettings settings) {
        this.exchange = exchange;
        this.principal = principal;
        this.settings = settings;
        this.record = ExchangeHeaderRecord.of(exchange, settings.headers());
    }

    @Override
    public String clientIp() {
        InetSocketAddress remote = exchange.getRequest().getRemoteAddress();
        if (remote == null) {
            return "";
        }
        InetAddress address = remote.getAddress();
        return settings.clientAddress(address == null ? remote.getHostString() : address.getHostAddress());
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

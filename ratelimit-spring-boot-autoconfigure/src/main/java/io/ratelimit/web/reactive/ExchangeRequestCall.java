package io.ratelimit.web.reactive;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.web.WebSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/** A call during a WebFlux exchange. */
record ExchangeRequestCall(
        ServerWebExchange exchange, @Nullable Principal principal, WebSettings settings, ExchangeHeaderRecord record)
        implements RequestCall {

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
    public @Nullable String header(String name) {
        return exchange.getRequest().getHeaders().getFirst(name);
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {
        record.add(charges, decisions);
    }
}

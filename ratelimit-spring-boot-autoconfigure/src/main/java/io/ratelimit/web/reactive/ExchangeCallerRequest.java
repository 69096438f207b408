package io.ratelimit.web.reactive;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.web.WebSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;

/** Answers expressions from a WebFlux exchange. */
public record ExchangeCallerRequest(
        ServerWebExchange exchange, @Nullable Principal principal, WebSettings settings) implements CallerRequest {

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
}

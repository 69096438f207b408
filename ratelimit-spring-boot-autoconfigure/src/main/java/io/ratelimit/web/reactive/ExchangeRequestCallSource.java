package io.ratelimit.web.reactive;

import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.WebSettings;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Finds the exchange in the subscriber's context, where {@link ExchangeContextFilter} has put it. */
public record ExchangeRequestCallSource(WebSettings settings) implements ReactiveRequestCallSource {

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.core.context.ReactiveSecurityContextHolder",
            ExchangeRequestCallSource.class.getClassLoader());

    @Override
    public Mono<RequestCall> current(boolean withPrincipal) {
        return Mono.deferContextual(context -> {
            ServerWebExchange exchange =
                    ServerWebExchangeContextFilter.getExchange(context).orElse(null);
            return withPrincipal
                    ? principal(exchange)
                            .flatMap(principal -> request(exchange, principal))
                            .switchIfEmpty(Mono.defer(() -> request(exchange, null)))
                    : request(exchange, null);
        });
    }

    private Mono<RequestCall> request(@Nullable ServerWebExchange exchange, @Nullable Principal principal) {
        if (exchange != null) {
            return Mono.just(new ExchangeRequestCall(
                    exchange, principal, settings, ExchangeHeaderRecord.of(exchange, settings.headers())));
        }
        return Mono.justOrEmpty(principal).map(PrincipalCall::new);
    }

    private static Mono<Principal> principal(@Nullable ServerWebExchange exchange) {
        Mono<Principal> ofExchange = exchange == null ? Mono.empty() : exchange.getPrincipal();
        return SECURITY
                ? SecurityCallerRequests.principal()
                        .switchIfEmpty(ofExchange.filter(SecurityCallerRequests::isAuthenticated))
                : ofExchange;
    }
}

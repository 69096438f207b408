package io.ratelimit.web.reactive;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.ReactiveCallerRequestSource;
import io.ratelimit.web.WebSettings;
import java.security.Principal;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Finds the exchange in the subscriber's context, where {@link ExchangeContextFilter} has put it. */
public final class ExchangeCallerRequestSource implements ReactiveCallerRequestSource {

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.core.context.ReactiveSecurityContextHolder",
            ExchangeCallerRequestSource.class.getClassLoader());

    private final WebSettings settings;

    public ExchangeCallerRequestSource(WebSettings settings) {
        this.settings = settings;
    }

    @Override
    public Mono<CallerRequest> current(boolean withPrincipal) {
        return Mono.deferContextual(context -> {
            ServerWebExchange exchange =
                    ServerWebExchangeContextFilter.getExchange(context).orElse(null);
            return withPrincipal
                    ? principal(exchange)
                            .map(Optional::of)
                            .defaultIfEmpty(Optional.empty())
                            .flatMap(principal -> request(exchange, principal.orElse(null)))
                    : request(exchange, null);
        });
    }

    private Mono<CallerRequest> request(@Nullable ServerWebExchange exchange, @Nullable Principal principal) {
        if (exchange != null) {
            return Mono.just(new ExchangeCallerRequest(exchange, principal, settings));
        }
        return Mono.justOrEmpty(principal).map(PrincipalCallerRequest::new);
    }

    private static Mono<Principal> principal(@Nullable ServerWebExchange exchange) {
        Mono<Principal> ofExchange = exchange == null ? Mono.empty() : exchange.getPrincipal();
        return SECURITY
                ? SecurityCallerRequests.principal()
                        .switchIfEmpty(ofExchange.filter(SecurityCallerRequests::isAuthenticated))
                : ofExchange;
    }
}

package io.ratelimit.web.reactive;

import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.reactor.ReactiveCall;
import io.ratelimit.reactor.ReactorSchedulers;
import io.ratelimit.web.MatchedRequest;
import io.ratelimit.web.RequestRuleMapping;
import io.ratelimit.web.RuleOrder;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Limits WebFlux requests by URL. No thread waits for the decision. Permits are held until the response is complete.
 *
 * @param ruleOrder of the rules that it applies
 * @param requests finds the request that expressions refer to
 * @param context the context of the server whose requests are limited; a server of a child context uses this filter, too
 */
public record RequestLimitWebFilter(
        RequestRuleMapping rules,
        RuleOrder ruleOrder,
        RateLimitGate gate,
        ReactiveRequestCallSource requests,
        ExchangeRejectionHandler rejectionHandler,
        ApplicationContext context)
        implements WebFilter, Ordered {

    @Override
    public int getOrder() {
        return rules.filterOrder(ruleOrder);
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (!rules.hasRules(ruleOrder) || isOfChildContext(exchange)) {
            return chain.filter(exchange);
        }
        ServerHttpRequest request = exchange.getRequest();
        MatchedRequest matched = rules.match(
                ruleOrder,
                request.getMethod().name(),
                CorsUtils.isPreFlightRequest(request),
                ExchangePaths.of(exchange));
        if (!matched.isLimited()) {
            return chain.filter(exchange);
        }
        // Not flatMap: it can lose a cancellation that comes while it subscribes (Reactor 3.8.7), and the permits with
        // it.
        return Mono.fromDirect(call(exchange, matched)
                .flatMap(call -> ReactiveCall.signalled(
                        matched.acquireRequestAsync(call), ReactorSchedulers::eventLoopOrParallel))
                .map(acquire -> limited(matched, acquire, exchange, chain))
                .onErrorResume(failure -> Mono.just(rejectionHandler.answer(exchange, failure)))
                .flatMapMany(Function.identity()));
    }

    /** Returns whether the request is for the server of a child context, such as that of Spring Boot's management server. */
    private boolean isOfChildContext(ServerWebExchange exchange) {
        ApplicationContext ofServer = exchange.getApplicationContext();
        return ofServer != null && ofServer != context;
    }

    /** Returns a call during this exchange, which other filters may have replaced since it was put into the context. */
    private Mono<RequestCall> call(ServerWebExchange exchange, MatchedRequest matched) {
        return requests.current(matched.readsPrincipal())
                .switchIfEmpty(
                        Mono.error(() -> new IllegalStateException("A URL rule must be applied during a web request")))
                .contextWrite(
                        context -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange));
    }

    private Mono<Void> limited(
            MatchedRequest matched, AcquireRequest acquire, ServerWebExchange exchange, WebFilterChain chain) {
        return Mono.deferContextual(context -> {
            if (acquire.charges().isEmpty()) {
                return Mono.fromDirect(ReactiveCall.guarded(chain.filter(exchange)));
            }
            Object observation = gate.isTracing() ? ReactiveCall.observation(context) : null;
            return Mono.fromDirect(ReactiveCall.of(
                    Futures.start(() -> gate.enterAsync(acquire, observation)),
                    // The store's thread must not run the filters and handlers behind, which may block it or call the
                    // store.
                    ReactorSchedulers::eventLoopOrParallel,
                    false,
                    Settlement::release,
                    (settlement, failure) -> {
                        if (settlement == null || failure != null) {
                            return rejectionHandler.answer(exchange, Objects.requireNonNull(failure));
                        }
                        Mono<Void> answer = chain.filter(exchange);
                        return matched.isSettled()
                                ? settled(
                                        answer,
                                        exchange.getResponse(),
                                        status -> matched.settle(acquire, settlement, gate, status))
                                : answer;
                    }));
        });
    }

    /**
     * Unless the response has begun, the status is what an outer filter or handler answers. If the client disconnects before that,
     * nothing is answered, and the estimate stays.
     */
    private static Mono<Void> settled(Mono<Void> answer, ServerHttpResponse response, IntConsumer settle) {
        IntConsumer ended = ofCommitted -> {
            if (response.isCommitted()) {
                settle.accept(ofCommitted);
            } else {
                response.beforeCommit(() -> Mono.fromRunnable(() -> settle.accept(status(response))));
            }
        };
        return answer.doOnSuccess(done -> ended.accept(status(response)))
                .doOnCancel(() -> ended.accept(status(response)))
                .doOnError(failure -> ended.accept(HttpStatus.INTERNAL_SERVER_ERROR.value()));
    }

    /** Checkpoints of Reactor print it. */
    @Override
    public String toString() {
        return getClass().getSimpleName();
    }

    private static int status(ServerHttpResponse response) {
        HttpStatusCode status = response.getStatusCode();
        return status == null ? HttpStatus.OK.value() : status.value();
    }
}

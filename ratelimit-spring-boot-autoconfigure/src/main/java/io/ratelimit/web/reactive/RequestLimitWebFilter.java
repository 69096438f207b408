package io.ratelimit.web.reactive;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.ReactiveCallerRequests;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.limiter.RateLimitGate;
import io.ratelimit.limiter.Settlement;
import io.ratelimit.reactor.ReactiveObservation;
import io.ratelimit.reactor.ReactorSchedulers;
import io.ratelimit.web.MatchedRequest;
import io.ratelimit.web.RequestRules;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.cors.reactive.CorsUtils;
import org.springframework.web.filter.reactive.ServerWebExchangeContextFilter;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Limits WebFlux requests by URL. No thread waits for the decision. Permits are held until the response is complete. */
public final class RequestLimitWebFilter implements WebFilter, Ordered {

    private final RequestRules rules;

    private final RateLimitGate gate;

    private final ReactiveCallerRequests requests;

    private final ExchangeRejectionHandler rejectionHandler;

    private final ApplicationContext context;

    private final int order;

    /**
     * @param requests finds the request that expressions refer to
     * @param context the context of the server whose requests are limited; a server of a child context uses this filter, too
     */
    public RequestLimitWebFilter(
            RequestRules rules,
            RateLimitGate gate,
            ReactiveCallerRequests requests,
            ExchangeRejectionHandler rejectionHandler,
            ApplicationContext context,
            int order) {
        this.rules = rules;
        this.gate = gate;
        this.requests = requests;
        this.rejectionHandler = rejectionHandler;
        this.context = context;
        this.order = order;
    }

    @Override
    public int getOrder() {
        return order;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (isOfChildContext(exchange)) {
            return chain.filter(exchange);
        }
        ServerHttpRequest request = exchange.getRequest();
        MatchedRequest matched = rules.match(
                request.getMethod().name(), CorsUtils.isPreFlightRequest(request), ExchangePaths.of(exchange));
        if (!matched.isLimited()) {
            return chain.filter(exchange);
        }
        AtomicReference<CompletableFuture<Settlement>> acquired = new AtomicReference<>();
        Runnable release = () -> release(acquired.get());
        return caller(exchange, matched)
                .flatMap(caller -> acquire(matched, caller, acquired))
                .map(refund -> true)
                .onErrorResume(
                        failure -> rejectionHandler.answer(exchange, failure).thenReturn(false))
                .flatMap(admitted -> admitted ? chain.filter(exchange) : Mono.empty())
                .doOnTerminate(release)
                .doFinally(end -> release.run());
    }

    /** Releases permits at the end of the response, also if the client has gone since they were acquired. */
    private static void release(@Nullable CompletableFuture<Settlement> acquired) {
        if (acquired != null && acquired.isDone() && !acquired.isCompletedExceptionally()) {
            acquired.getNow(Settlement.NONE).release();
        }
    }

    /** Returns whether the request is for the server of a child context, such as that of Spring Boot's management server. */
    private boolean isOfChildContext(ServerWebExchange exchange) {
        ApplicationContext ofServer = exchange.getApplicationContext();
        return ofServer != null && ofServer != context;
    }

    /** Finds the caller of this exchange, which other filters may have replaced since it was put into the context. */
    private Mono<CallerRequest> caller(ServerWebExchange exchange, MatchedRequest matched) {
        return requests.current(matched.readsPrincipal())
                .switchIfEmpty(
                        Mono.error(() -> new IllegalStateException("A URL rule must be applied during a web request")))
                .contextWrite(
                        context -> context.put(ServerWebExchangeContextFilter.EXCHANGE_CONTEXT_ATTRIBUTE, exchange));
    }

    private Mono<Settlement> acquire(
            MatchedRequest matched, CallerRequest caller, AtomicReference<CompletableFuture<Settlement>> acquired) {
        CompletableFuture<AcquireRequest> planned = matched.acquireRequestAsync(caller);
        Mono<AcquireRequest> known = Mono.fromFuture(planned);
        return (planned.isDone() ? known : known.publishOn(ReactorSchedulers.eventLoopOrParallel()))
                .flatMap(request -> acquire(request, acquired));
    }

    private Mono<Settlement> acquire(AcquireRequest request, AtomicReference<CompletableFuture<Settlement>> result) {
        if (request.charges().isEmpty()) {
            return Mono.just(Settlement.NONE);
        }
        return gate.isTracing()
                ? Mono.deferContextual(context -> acquire(request, ReactiveObservation.in(context), result))
                : acquire(request, null, result);
    }

    private Mono<Settlement> acquire(
            AcquireRequest request,
            @Nullable Object observation,
            AtomicReference<CompletableFuture<Settlement>> result) {
        CompletableFuture<Settlement> acquired =
                gate.enterAsync(request, observation).toCompletableFuture();
        result.set(acquired);
        Mono<Settlement> decided = Mono.fromFuture(acquired);
        // The store's thread must not run the filters and handlers behind, which may block it or call the store.
        return acquired.isDone() ? decided : decided.publishOn(ReactorSchedulers.eventLoopOrParallel());
    }
}

package io.ratelimit.web.reactive;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.reactor.ReactiveCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.web.RateLimitHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.http.HttpHeaders;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Limits the routes of Spring Cloud Gateway that have its filter {@code RequestRateLimiter}. The filter resolves the key. The
 * argument {@code rate-limit.name} of the filter names the limit, by default the id of the route does.
 */
public final class GatewayRateLimiter extends AbstractRateLimiter<GatewayRateLimiter.Config>
        implements SmartInitializingSingleton {

    /** What the names of the filter's arguments start with. */
    static final String ARGUMENTS = "rate-limit";

    static final Response ALLOWED = new Response(true, Map.of());

    private final LimitCatalog catalog;

    private final RateLimitGate gate;

    private final ReactiveRequestCallSource requests;

    private final Map<String, RouteLimit> routes = new ConcurrentHashMap<>();

    /** Those of routes, which a refresh must not make unusable for a route. A route is loaded many times. */
    private final Set<EffectiveLimit> checked = ConcurrentHashMap.newKeySet();

    /**
     * Creates a limiter for all routes.
     *
     * @param requests finds the request whose response gets the quota headers
     */
    public GatewayRateLimiter(
            ConfigurationService configuration,
            LimitCatalog catalog,
            RateLimitGate gate,
            ReactiveRequestCallSource requests) {
        super(Config.class, ARGUMENTS, configuration);
        this.catalog = catalog;
        this.gate = gate;
        this.requests = requests;
    }

    /**
     * Reads the arguments of a route's filter.
     *
     * @throws RateLimitConfigurationException if there is no such limit; the gateway does not load the route then
     */
    @Override
    public void onApplicationEvent(FilterArgsEvent event) {
        super.onApplicationEvent(event);
        String route = event.getRouteId();
        if (getConfig().containsKey(route) || event.getArgs().containsValue(this)) {
            routes.put(route, routeLimit(route));
        }
    }

    /**
     * Checks the routes in Java that have arguments for this limiter. Of the others, the gateway tells nothing before a request.
     *
     * @throws RateLimitConfigurationException if there is no such limit
     */
    @Override
    public void afterSingletonsInstantiated() {
        getConfig().keySet().forEach(route -> routes.put(route, routeLimit(route)));
    }

    @Override
    public Mono<Response> isAllowed(String routeId, String key) {
        return Mono.<Response>deferContextual(context -> {
                    RouteLimit route = routes.computeIfAbsent(routeId, this::routeLimit);
                    RateLimit limit = route.limit().get();
                    if (!limit.enabled()) {
                        return Mono.just(ALLOWED);
                    }
                    List<Charge> charges = List.of(Charge.keyed(limit, key, route.permits()));
                    return requests.current(false)
                            .cast(CallListener.class)
                            .defaultIfEmpty(CallListener.NONE)
                            .flatMap(listener -> acquire(
                                    new AcquireRequest(charges, false, listener),
                                    gate.isTracing() ? ReactiveCall.observation(context) : null));
                })
                .onErrorMap(
                        RateLimitConfigurationException.class,
                        ex -> new RateLimitExpressionException(String.valueOf(ex.getMessage()), null));
    }

    private Mono<Response> acquire(AcquireRequest request, @Nullable Object observation) {
        CompletableFuture<Settlement> acquired =
                gate.enterAsync(request, observation).toCompletableFuture();
        Mono<Settlement> decided = Mono.fromFuture(acquired);
        // The store's thread must not run the filters behind, which may block it or call the store.
        return (acquired.isDone() ? decided : decided.publishOn(Schedulers.parallel()))
                .map(refund -> ALLOWED)
                .onErrorResume(RateLimitExceededException.class, rejection -> Mono.just(rejected(rejection)));
    }

    /** The filter can have another status than 429, so the header is not left to the record of the exchange. */
    private static Response rejected(RateLimitExceededException rejection) {
        Duration retryAfter = rejection.getDecision().retryAfter();
        return new Response(
                false,
                retryAfter == null
                        ? Map.of()
                        : Map.of(HttpHeaders.RETRY_AFTER, RateLimitHeaders.retryAfter(retryAfter)));
    }

    private RouteLimit routeLimit(String routeId) {
        Config config = getConfig().getOrDefault(routeId, new Config());
        String name = config.getName() == null ? routeId : config.getName();
        try {
            EffectiveLimit limit = catalog.configured(name);
            check(limit.get());
            if (checked.add(limit)) {
                limit.addCheck(catalog, this::check);
            }
            return new RouteLimit(limit, config.getPermits());
        } catch (RateLimitConfigurationException ex) {
            throw ex.at("filter RequestRateLimiter of route '" + routeId + "'");
        }
    }

    /** The filter hands over a key, and nothing that a plan can be read from. It is not told how a request ends. */
    private void check(RateLimit limit) {
        LimitConfiguration overrides = catalog.settings().of(limit.name());
        boolean hasPlans = overrides.hasPlan() || !limit.plans().isEmpty();
        String rule = null;
        if (hasPlans && !LimitConfiguration.NO_PLAN.equals(overrides.get(LimitAttributes.PLAN_EXPRESSION))) {
            rule = " must not have plans here, because the filter hands over the key alone"
                    + (overrides.hasPlan() ? " (was " + overrides.planText() + ")." : ".");
        } else if (overrides.get(LimitAttributes.PERMITS_AFTER) != null
                || overrides.get(LimitAttributes.REFUND_ON) != null) {
            rule = " must have neither permits-after nor refund-on here, because the filter is not told how a request"
                    + " ends.";
        }
        if (rule != null) {
            throw new RateLimitConfigurationException(
                    overrides.property() + rule,
                    "Limit the path by a URL rule, ratelimit.http, or give the route a limit of its own.");
        }
        if (!limit.hasRate()) {
            throw new RateLimitConfigurationException(
                    "the algorithm of the limit '" + limit.name()
                            + "' must not be CONCURRENCY here, because the filter is not told when a request ends.",
                    "Limit the path by a URL rule, ratelimit.http, or use an algorithm with a rate.");
        }
    }

    private record RouteLimit(EffectiveLimit limit, long permits) {

        RouteLimit {
            var unused = new Charge(limit.get(), null, permits);
        }
    }

    /** The arguments of the filter, as the gateway binds them. */
    public static final class Config {

        private @Nullable String name;

        private long permits = 1;

        /** Returns the name of the limit; {@code null} for that of the route. */
        public @Nullable String getName() {
            return name;
        }

        public void setName(@Nullable String name) {
            this.name = name;
        }

        /** Returns how many permits a request takes. */
        public long getPermits() {
            return permits;
        }

        public void setPermits(long permits) {
            this.permits = permits;
        }
    }
}

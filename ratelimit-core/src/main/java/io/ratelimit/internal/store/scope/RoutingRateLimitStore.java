package io.ratelimit.internal.store.scope;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.Scope;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Passes each limit to the store that decides it: that of its {@linkplain RateLimit#scope() scope}, or of the {@linkplain
 * RateLimit#redis() server} that it is counted in. Each server has failover, leases and remembered rejections of its own.
 */
public final class RoutingRateLimitStore implements RateLimitStore, StoreHealth {

    private final List<RateLimitStore> stores;

    private final List<StoreHealth> health;

    private final Function<RateLimit, RateLimitStore> routes;

    /** Decides calls with limits in several of the stores, and nothing else. */
    private final RateLimitStore joint;

    /** The same, and remembers rejections. */
    private final RateLimitStore remembering;

    /** @param health of those stores that can fail */
    private RoutingRateLimitStore(
            List<? extends RateLimitStore> stores,
            List<? extends StoreHealth> health,
            Function<RateLimit, RateLimitStore> routes,
            UnaryOperator<RateLimitStore> cache) {
        this.stores = List.copyOf(stores);
        this.health = List.copyOf(health);
        this.routes = routes;
        this.joint = request -> StoreAnswer.of(() -> new MultiStoreCall(request, routes).decide());
        this.remembering = cache.apply(joint);
    }

    /**
     * Creates a store that decides limits with {@link Scope#INSTANCE} in the memory of this instance.
     *
     * @param shared decides the limits that instances share
     * @param instance decides the others, and all while the shared one fails; must not block
     */
    public static <S extends RateLimitStore & StoreHealth> RoutingRateLimitStore byScope(
            S shared, RateLimitStore instance) {
        return new RoutingRateLimitStore(
                List.of(shared, instance),
                List.of(shared),
                limit -> limit.scope() == Scope.INSTANCE ? instance : shared,
                UnaryOperator.identity());
    }

    /**
     * Creates a store that decides each limit in its server.
     *
     * @param byDefault decides limits that name no server
     * @param others the stores of the other servers, by their names in lower case without dashes and underscores
     * @param cache decorates what decides calls with limits in several servers; shares what it remembers with the stores of the servers
     */
    public static <S extends RateLimitStore & StoreHealth> RoutingRateLimitStore byServer(
            S byDefault, Map<String, S> others, UnaryOperator<RateLimitStore> cache) {
        List<S> all =
                Stream.concat(Stream.of(byDefault), others.values().stream()).toList();
        Map<String, RateLimitStore> servers = new ConcurrentHashMap<>(others);
        return new RoutingRateLimitStore(all, all, limit -> serverOf(limit, byDefault, servers), cache);
    }

    /** @param servers by their names, also in the spellings that limits have used */
    private static RateLimitStore serverOf(
            RateLimit limit, RateLimitStore byDefault, Map<String, RateLimitStore> servers) {
        String name = limit.redis();
        if (name == null) {
            return byDefault;
        }
        RateLimitStore known = servers.get(name);
        if (known != null) {
            return known;
        }
        RateLimitStore server = servers.get(LimitNames.canonical(name));
        if (server == null) {
            throw new RateLimitConfigurationException(
                    "limit '" + limit.name() + "' must name a Redis server of ratelimit.redis (was \"" + name + "\").",
                    "Configure the server before the application starts.");
        }
        servers.put(name, server);
        return server;
    }

    /** Returns the store that decides all charges. */
    private RateLimitStore storeOf(StoreRequest request) {
        RateLimitStore first = routes.apply(request.first().limit());
        if (!request.isSingle()) {
            for (Charge charge : request.charges()) {
                if (routes.apply(charge.limit()) != first) {
                    // What this instance decides in the place of a server that fails ends with the outage.
                    return remembering == joint || lastFailures().isEmpty() ? remembering : joint;
                }
            }
        }
        return first;
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        return storeOf(request).decide(request);
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        return routes.apply(charge.limit()).charge(charge);
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return routes.apply(limit).isNonBlocking(limit);
    }

    /** Calls hold permits in the store that decided them, also if the limit has moved to another one since. */
    @Override
    public long heldPermits(RateLimit limit) {
        return stores.stream().mapToLong(store -> store.heldPermits(limit)).sum();
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        return routes.apply(limit).change(limit, key, change);
    }

    @Override
    public void forget(String limit, String keyDigest) {
        stores.forEach(store -> store.forget(limit, keyDigest));
    }

    @Override
    public CompletionStage<Void> check() {
        return Futures.forAll(stores, store -> Futures.start(store::check));
    }

    @Override
    public List<StoreFailure> failures() {
        return health.stream().flatMap(server -> server.failures().stream()).toList();
    }

    @Override
    public List<StoreFailure> lastFailures() {
        return health.stream().flatMap(server -> server.lastFailures().stream()).toList();
    }
}

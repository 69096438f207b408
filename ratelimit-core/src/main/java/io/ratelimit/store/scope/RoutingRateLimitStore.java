package io.ratelimit.store.scope;

import io.ratelimit.BucketStatus;
import io.ratelimit.Charge;
import io.ratelimit.LimitNames;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.BucketChange;
import io.ratelimit.store.DelegatingRateLimitStore;
import io.ratelimit.store.KeyDigest;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreFailure;
import io.ratelimit.store.StoreHealth;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Passes each limit to the {@linkplain RateLimit#redis() server} that it is counted in. Each server has failover, leases and
 * remembered rejections of its own.
 */
public final class RoutingRateLimitStore extends DelegatingRateLimitStore implements StoreHealth {

    private final List<StoreHealth> health = new ArrayList<>();

    /** By their names, also in the spellings that limits have used. */
    private final Map<String, RateLimitStore> servers = new ConcurrentHashMap<>();

    /** Decides calls with limits in several servers. */
    private final RateLimitStore crossServer;

    /**
     * Creates a store.
     *
     * @param byDefault decides limits that name no server
     * @param others the stores of the other servers, by their names in lower case without dashes and underscores
     * @param cache decorates what decides calls with limits in several servers
     */
    public <S extends RateLimitStore & StoreHealth> RoutingRateLimitStore(
            S byDefault, Map<String, S> others, UnaryOperator<RateLimitStore> cache) {
        super(byDefault);
        health.add(byDefault);
        health.addAll(others.values());
        servers.putAll(others);
        this.crossServer = cache.apply(new CrossServerStore(byDefault, this::serverOf));
    }

    /** Returns the store of the server that a limit is counted in. */
    private RateLimitStore serverOf(RateLimit limit) {
        String name = limit.redis();
        if (name == null) {
            return store();
        }
        RateLimitStore server = servers.get(name);
        return server != null ? server : servers.computeIfAbsent(name, spelling -> serverOf(limit, spelling));
    }

    private RateLimitStore serverOf(RateLimit limit, String spelling) {
        RateLimitStore server = servers.get(LimitNames.canonical(spelling));
        if (server == null) {
            throw new RateLimitConfigurationException(
                    "limit '" + limit.name() + "' must name a Redis server of ratelimit.redis (was \"" + spelling
                            + "\").",
                    "Configure the server before the application starts.");
        }
        return server;
    }

    /** Returns the store that decides all charges. */
    private RateLimitStore storeOf(StoreRequest request) {
        RateLimitStore first = serverOf(request.first().limit());
        if (!request.isSingle()) {
            for (Charge charge : request.charges()) {
                if (serverOf(charge.limit()) != first) {
                    return crossServer;
                }
            }
        }
        return first;
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        return serverOf(charge.limit()).decide(charge);
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        return storeOf(request).decide(request);
    }

    @Override
    public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
        return storeOf(request).decideAsync(request);
    }

    @Override
    public CompletionStage<Void> chargeAsync(Charge charge) {
        return serverOf(charge.limit()).chargeAsync(charge);
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return serverOf(limit).isNonBlocking(limit);
    }

    @Override
    public CompletionStage<RateLimitDecision> peekAsync(Charge charge) {
        return serverOf(charge.limit()).peekAsync(charge);
    }

    @Override
    public CompletionStage<Void> resetAsync(RateLimit limit, @Nullable String key) {
        return serverOf(limit).resetAsync(limit, key).whenComplete((done, thrown) -> forgetRejections(limit, key));
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return serverOf(limit).heldPermits(limit);
    }

    @Override
    public CompletionStage<BucketStatus> changeAsync(RateLimit limit, @Nullable String key, BucketChange change) {
        CompletionStage<BucketStatus> changed = serverOf(limit).changeAsync(limit, key, change);
        return change.kind() == BucketChange.Kind.NONE
                ? changed
                : changed.whenComplete((status, thrown) -> forgetRejections(limit, key));
    }

    private void forgetRejections(RateLimit limit, @Nullable String key) {
        crossServer.forget(limit.id(), KeyDigest.of(key == null ? "" : key));
    }

    @Override
    public void forget(String limit, String keyDigest) {
        super.forget(limit, keyDigest);
        servers.values().stream().distinct().forEach(server -> server.forget(limit, keyDigest));
        crossServer.forget(limit, keyDigest);
    }

    @Override
    public CompletionStage<Void> check() {
        List<CompletableFuture<Void>> checks = new ArrayList<>();
        checks.add(Futures.start(() -> super.check()));
        servers.values().stream().distinct().forEach(server -> checks.add(Futures.start(server::check)));
        return CompletableFuture.allOf(checks.toArray(CompletableFuture[]::new));
    }

    @Override
    public List<StoreFailure> failures() {
        return health.stream().flatMap(server -> server.failures().stream()).toList();
    }

    @Override
    public List<StoreFailure> lastFailures() {
        return health.stream().flatMap(server -> server.lastFailures().stream()).toList();
    }

    /** Decides calls with limits in several servers, and nothing else. */
    private static final class CrossServerStore extends DelegatingRateLimitStore {

        private final Function<RateLimit, RateLimitStore> servers;

        CrossServerStore(RateLimitStore byDefault, Function<RateLimit, RateLimitStore> servers) {
            super(byDefault);
            this.servers = servers;
        }

        @Override
        public StoreOutcome decide(StoreRequest request) {
            return BoundedWait.get(decideAsync(request), LONGEST);
        }

        @Override
        public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
            return new MultiStoreCall(request, servers).decide();
        }

        @Override
        public void forget(String limit, String keyDigest) {
            // The servers' own stores are told.
        }
    }
}

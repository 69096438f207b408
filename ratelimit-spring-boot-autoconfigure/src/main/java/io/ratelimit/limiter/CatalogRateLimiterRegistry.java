package io.ratelimit.limiter;

import io.ratelimit.JointDecision;
import io.ratelimit.LimitNames;
import io.ratelimit.PermitRequest;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.concurrent.Futures;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Hands out limiters for the limits of a catalog. While the application starts, and the catalog still fills, a name is
 * taken on trust; {@link #complete()} checks it.
 */
public final class CatalogRateLimiterRegistry implements RateLimiterRegistry {

    private final LimitCatalog catalog;

    private final RateLimitGate gate;

    private final Map<String, StoreRateLimiter> limiters = new ConcurrentHashMap<>();

    private volatile boolean complete;

    public CatalogRateLimiterRegistry(LimitCatalog catalog, RateLimitGate gate) {
        this.catalog = catalog;
        this.gate = gate;
    }

    @Override
    public RateLimiter get(String name) {
        return complete ? declared(name) : onTrust(name);
    }

    @Override
    public JointDecision tryAcquireAll(List<PermitRequest> requests) {
        JointRequest call = call(requests);
        return call.charges().isEmpty() ? call.unlimited() : gate.decide(call.charges());
    }

    @Override
    public CompletionStage<JointDecision> tryAcquireAllAsync(List<PermitRequest> requests) {
        return Futures.start(() -> {
            JointRequest call = call(requests);
            return call.charges().isEmpty()
                    ? CompletableFuture.completedFuture(call.unlimited())
                    : gate.decideAsync(call.charges());
        });
    }

    @Override
    public void acquireAll(List<PermitRequest> requests) {
        JointRequest call = call(requests);
        if (!call.charges().isEmpty()) {
            gate.enter(call.charges());
        }
    }

    private JointRequest call(List<PermitRequest> requests) {
        return JointRequest.of(requests, name -> declared(name).limit());
    }

    private StoreRateLimiter declared(String name) {
        StoreRateLimiter known = limiters.get(LimitNames.canonical(name));
        if (known != null) {
            return known;
        }
        find(name);
        return onTrust(name);
    }

    private StoreRateLimiter onTrust(String name) {
        return limiters.computeIfAbsent(LimitNames.canonical(name), id -> new StoreRateLimiter(name, this::find, gate));
    }

    /**
     * To be called when all declarations are in.
     *
     * @throws RateLimitConfigurationException if a limiter was handed out for a limit that does not exist
     */
    public void complete() {
        complete = true;
        limiters.values().stream().map(StoreRateLimiter::name).forEach(name -> {
            if (catalog.find(name).isEmpty()) {
                throw new RateLimitConfigurationException(
                        "RateLimiterRegistry.get(\"" + name + "\") must be called with the name of a declared limit.",
                        unknown(name));
            }
        });
    }

    private RateLimit find(String name) {
        return catalog.find(name).orElseThrow(() -> new IllegalArgumentException(unknown(name)));
    }

    private String unknown(String name) {
        return "There is no limit '" + name + "'"
                + LimitNames.nearest(name, catalog.names())
                        .map(nearest -> "; did you mean '" + nearest + "'?")
                        .orElse("; known are " + catalog.names());
    }
}

package io.ratelimit;

import java.util.Map;
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
        if (complete) {
            find(name);
        }
        return limiters.computeIfAbsent(
                LimitNames.canonical(name), key -> new StoreRateLimiter(name, this::find, gate));
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
                        "RateLimiterRegistry.get(\"" + name + "\") was called, but nothing declares that limit.",
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

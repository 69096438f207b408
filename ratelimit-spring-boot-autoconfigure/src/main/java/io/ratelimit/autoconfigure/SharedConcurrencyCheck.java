package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.Scope;
import io.ratelimit.limiter.LimitCatalog;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/** Refuses concurrency limits that instances would share, because they are counted in memory alone. */
final class SharedConcurrencyCheck implements SmartInitializingSingleton {

    private final ObjectProvider<LimitCatalog> catalog;

    SharedConcurrencyCheck(ObjectProvider<LimitCatalog> catalog) {
        this.catalog = catalog;
    }

    @Override
    public void afterSingletonsInstantiated() {
        catalog.ifAvailable(all -> all.limits().forEach(SharedConcurrencyCheck::check));
    }

    private static void check(RateLimit limit) {
        if (!limit.hasRate() && limit.scope() == Scope.SHARED) {
            throw new RateLimitConfigurationException(
                    "the scope of the limit '" + limit.name() + "' must be INSTANCE for CONCURRENCY, which is not yet"
                            + " counted in a shared store (was SHARED).",
                    "Set ratelimit.limits." + limit.name() + ".scope=instance, or ratelimit.store=in-memory.");
        }
    }
}

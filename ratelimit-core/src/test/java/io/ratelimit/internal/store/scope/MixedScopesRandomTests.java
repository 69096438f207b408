package io.ratelimit.internal.store.scope;

import io.ratelimit.RateLimitBuilder;
import io.ratelimit.Scope;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.spi.RateLimitStore;

/** With limits of both scopes. */
class MixedScopesRandomTests extends DividedStoreContract {

    @Override
    RateLimitStore dividedStore() {
        RateLimitStore instance = store();
        return RoutingRateLimitStore.byScope(new FailoverRateLimitStore(store(), instance), instance);
    }

    @Override
    void assign(RateLimitBuilder limit) {
        limit.scope(oneOf(Scope.values()));
    }
}

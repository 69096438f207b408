package io.ratelimit.simulation;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.store.DelegatingRateLimitStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.util.concurrent.CompletionStage;

/** Notes whether the last decision has failed, as a timer of the store does. */
final class ObservedStore extends DelegatingRateLimitStore {

    private boolean failed;

    ObservedStore(RateLimitStore store) {
        super(store);
    }

    boolean takeFailed() {
        boolean was = failed;
        failed = false;
        return was;
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        try {
            return super.decide(request);
        } catch (RateLimitStoreException ex) {
            failed = true;
            throw ex;
        }
    }

    @Override
    public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
        return super.decideAsync(request).whenComplete((outcome, thrown) -> failed |= thrown != null);
    }
}

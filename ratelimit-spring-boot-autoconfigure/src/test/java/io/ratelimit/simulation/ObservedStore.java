package io.ratelimit.simulation;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
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

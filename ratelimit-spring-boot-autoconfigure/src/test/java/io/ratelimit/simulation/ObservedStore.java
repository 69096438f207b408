package io.ratelimit.simulation;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;

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
    public StoreAnswer decide(StoreRequest request) {
        return super.decide(request).handle((outcome, thrown) -> {
            failed |= thrown != null;
            if (outcome == null) {
                throw Futures.unchecked(thrown);
            }
            return outcome;
        });
    }
}

package io.ratelimit.testing;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Decides by a store's other path, the one that does not block, and waits for it. */
public record AsyncStore(RateLimitStore store) implements RateLimitStore {

    @Override
    public StoreOutcome decide(StoreRequest request) {
        try {
            return store.decideAsync(request).toCompletableFuture().join();
        } catch (CompletionException ex) {
            throw ex.getCause() instanceof RuntimeException cause ? cause : ex;
        }
    }

    @Override
    public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
        return store.decideAsync(request);
    }

    @Override
    public CompletionStage<RateLimitDecision> peekAsync(Charge charge) {
        return store.peekAsync(charge);
    }

    @Override
    public CompletionStage<Void> resetAsync(RateLimit limit, String key) {
        return store.resetAsync(limit, key);
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return store.heldPermits(limit);
    }
}

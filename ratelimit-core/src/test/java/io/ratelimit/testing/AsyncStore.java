package io.ratelimit.testing;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Decides by a store's other path, the one that does not block, and waits for it. */
public record AsyncStore(RateLimitStore store) implements RateLimitStore {

    @Override
    public StoreAnswer decide(StoreRequest request) {
        StoreAnswer answer = store.decide(request).await();
        return StoreAnswer.of(
                () -> {
                    try {
                        return answer.toStage().toCompletableFuture().join();
                    } catch (CompletionException ex) {
                        throw ex.getCause() instanceof RuntimeException cause ? cause : ex;
                    }
                },
                answer::toStage);
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
        return store.change(limit, key, change);
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return store.heldPermits(limit);
    }
}

package io.ratelimit.internal.store;

import io.ratelimit.Internal;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Passes every call to another store. A decorator overrides what it changes. */
@Internal
public abstract class DelegatingRateLimitStore implements RateLimitStore {

    private final RateLimitStore store;

    protected DelegatingRateLimitStore(RateLimitStore store) {
        this.store = store;
    }

    protected final RateLimitStore store() {
        return store;
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        return store.decide(request);
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        return store.charge(charge);
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        return store.change(limit, key, change);
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return store.isNonBlocking(limit);
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return store.heldPermits(limit);
    }

    @Override
    public void forget(String limit, String keyDigest) {
        store.forget(limit, keyDigest);
    }

    @Override
    public CompletionStage<Void> check() {
        return store.check();
    }
}

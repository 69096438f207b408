package io.ratelimit.internal.store;

import io.ratelimit.BucketStatus;
import io.ratelimit.Internal;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Passes every call to another store. A decorator overrides what it changes. {@link #decide(Charge)} is not passed on, so that
 * a decorator of {@link #decide(StoreRequest)} is asked for every decision.
 */
@Internal
public abstract class DelegatingRateLimitStore implements RateLimitStore {

    private final RateLimitStore store;

    protected DelegatingRateLimitStore(RateLimitStore store) {
        this.store = store;
    }

    /** Returns the other store. */
    protected final RateLimitStore store() {
        return store;
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        return store.decide(request);
    }

    @Override
    public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
        return store.decideAsync(request);
    }

    @Override
    public CompletionStage<Void> chargeAsync(Charge charge) {
        return store.chargeAsync(charge);
    }

    @Override
    public CompletionStage<Void> refundLeases(List<Lease> leases) {
        return store.refundLeases(leases);
    }

    @Override
    public int affordableRefunds() {
        return store.affordableRefunds();
    }

    @Override
    public boolean isNonBlocking() {
        return store.isNonBlocking();
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return store.isNonBlocking(limit);
    }

    @Override
    public CompletionStage<RateLimitDecision> peekAsync(Charge charge) {
        return store.peekAsync(charge);
    }

    @Override
    public CompletionStage<Void> resetAsync(RateLimit limit, @Nullable String key) {
        return store.resetAsync(limit, key);
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return store.heldPermits(limit);
    }

    @Override
    public CompletionStage<BucketStatus> changeAsync(RateLimit limit, @Nullable String key, BucketChange change) {
        return store.changeAsync(limit, key, change);
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

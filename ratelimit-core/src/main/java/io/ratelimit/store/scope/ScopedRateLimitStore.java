package io.ratelimit.store.scope;

import io.ratelimit.BucketStatus;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Scope;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.store.BucketChange;
import io.ratelimit.store.DelegatingRateLimitStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreFailure;
import io.ratelimit.store.StoreHealth;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Decides limits with {@link Scope#INSTANCE} in the memory of this instance, and all others by the store that instances share. */
public final class ScopedRateLimitStore extends DelegatingRateLimitStore implements StoreHealth {

    private final StoreHealth health;

    private final RateLimitStore instance;

    /**
     * Creates a store.
     *
     * @param shared decides the limits that instances share
     * @param instance decides the others; must not block
     */
    public <S extends RateLimitStore & StoreHealth> ScopedRateLimitStore(S shared, RateLimitStore instance) {
        super(shared);
        this.health = shared;
        this.instance = instance;
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        return storeOf(charge.limit()).decide(charge);
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        RateLimitStore only = onlyStoreOf(request);
        if (only != null) {
            return only.decide(request);
        }
        return BoundedWait.get(new MultiStoreCall(request, this::storeOf).decide(), LONGEST);
    }

    @Override
    public CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
        RateLimitStore only = onlyStoreOf(request);
        return only != null ? only.decideAsync(request) : new MultiStoreCall(request, this::storeOf).decide();
    }

    @Override
    public CompletionStage<Void> chargeAsync(Charge charge) {
        return storeOf(charge.limit()).chargeAsync(charge);
    }

    private RateLimitStore storeOf(RateLimit limit) {
        return limit.scope() == Scope.INSTANCE ? instance : store();
    }

    /** Returns the store that decides all charges, or {@code null} if it takes both. */
    private @Nullable RateLimitStore onlyStoreOf(StoreRequest request) {
        RateLimitStore first = storeOf(request.first().limit());
        if (!request.isSingle()) {
            for (Charge charge : request.charges()) {
                if (storeOf(charge.limit()) != first) {
                    return null;
                }
            }
        }
        return first;
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return storeOf(limit).isNonBlocking();
    }

    @Override
    public CompletionStage<RateLimitDecision> peekAsync(Charge charge) {
        return storeOf(charge.limit()).peekAsync(charge);
    }

    @Override
    public CompletionStage<Void> resetAsync(RateLimit limit, @Nullable String key) {
        return storeOf(limit).resetAsync(limit, key);
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return storeOf(limit).heldPermits(limit);
    }

    @Override
    public CompletionStage<BucketStatus> changeAsync(RateLimit limit, @Nullable String key, BucketChange change) {
        return storeOf(limit).changeAsync(limit, key, change);
    }

    @Override
    public List<StoreFailure> failures() {
        return health.failures();
    }

    @Override
    public List<StoreFailure> lastFailures() {
        return health.lastFailures();
    }
}

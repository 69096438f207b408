package io.ratelimit.test.context;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Remembers the buckets that a store is asked for, to reset them. If disabled, allows every call without asking the store. */
final class ResettableRateLimitStore extends DelegatingRateLimitStore {

    private final Set<Bucket> used = ConcurrentHashMap.newKeySet();

    private volatile boolean disabled;

    ResettableRateLimitStore(RateLimitStore store) {
        super(store);
    }

    /** Fills all buckets. */
    void reset(boolean thenDisabled) {
        used.removeIf(bucket -> {
            var unused = super.change(bucket.limit(), bucket.key(), BucketChange.RESET);
            return true;
        });
        disabled = thenDisabled;
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        if (disabled) {
            return allowed(request);
        }
        request.charges().forEach(charge -> used.add(new Bucket(charge.limit(), charge.key())));
        return super.decide(request);
    }

    private static StoreOutcome allowed(StoreRequest request) {
        return StoreOutcome.of(
                request,
                request.charges().stream()
                        .map(charge ->
                                RateLimitDecision.unlimited(charge.limit().capacity()))
                        .toList());
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        if (disabled) {
            return CompletableFuture.completedFuture(null);
        }
        used.add(new Bucket(charge.limit(), charge.key()));
        return super.charge(charge);
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        used.add(new Bucket(limit, key));
        return super.change(limit, key, change);
    }

    private record Bucket(RateLimit limit, @Nullable String key) {}
}

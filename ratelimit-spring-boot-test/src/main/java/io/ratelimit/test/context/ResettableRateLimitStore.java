package io.ratelimit.test.context;

import io.ratelimit.BucketStatus;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Remembers the buckets that a store is asked for, to reset them. If disabled, allows every call without asking the store. */
final class ResettableRateLimitStore implements RateLimitStore {

    private final RateLimitStore store;

    private final Set<Bucket> used = ConcurrentHashMap.newKeySet();

    private volatile boolean disabled;

    ResettableRateLimitStore(RateLimitStore store) {
        this.store = store;
    }

    /** Fills all buckets. */
    void reset(boolean thenDisabled) {
        used.removeIf(bucket -> {
            var unused = store.change(bucket.limit(), bucket.key(), BucketChange.RESET);
            return true;
        });
        disabled = thenDisabled;
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        return disabled ? allowed(request) : store.decide(remembered(request)).await();
    }

    private StoreRequest remembered(StoreRequest request) {
        request.charges().forEach(charge -> used.add(new Bucket(charge.limit(), charge.key())));
        return request;
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
    public boolean isNonBlocking(RateLimit limit) {
        return store.isNonBlocking(limit);
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        used.add(new Bucket(limit, key));
        return store.change(limit, key, change);
    }

    @Override
    public void forget(String limit, String keyDigest) {
        store.forget(limit, keyDigest);
    }

    private record Bucket(RateLimit limit, @Nullable String key) {}
}

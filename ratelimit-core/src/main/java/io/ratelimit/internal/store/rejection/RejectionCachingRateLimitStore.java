package io.ratelimit.internal.store.rejection;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Rejects without the store what the store has just rejected, until the moment that the store named, but for no longer than
 * a second: then it asks again. So it rejects nothing that the store would allow, unless another instance has meanwhile
 * reset the bucket or refunded permits.
 *
 * <p>A cached decision is the store's, less the time since then: others may have taken permits that were left.
 */
public final class RejectionCachingRateLimitStore extends DelegatingRateLimitStore {

    private final RejectionCache rejections;

    private final Runnable onCached;

    public RejectionCachingRateLimitStore(RateLimitStore store) {
        this(store, () -> {}, new RejectionCache(System::nanoTime));
    }

    /**
     * @param onCached called when a call is rejected without the store; must not throw
     * @param rejections also those of other stores, if calls have limits in several
     */
    public RejectionCachingRateLimitStore(RateLimitStore store, Runnable onCached, RejectionCache rejections) {
        super(store);
        this.onCached = onCached;
        this.rejections = rejections;
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        if (request.isPeek()) {
            return store().decide(request);
        }
        StoreOutcome known = rejections.find(request);
        if (known != null) {
            onCached.run();
            return known;
        }
        RejectionCache.Query query = rejections.query();
        StoreAnswer answer = store().decide(request);
        return answer instanceof StoreOutcome outcome
                ? cached(outcome, query)
                : answer.map(outcome -> cached(outcome, query));
    }

    private StoreOutcome cached(StoreOutcome outcome, RejectionCache.Query query) {
        rejections.answered(query, outcome);
        Lease lease = outcome.lease();
        StoreOutcome evicting = outcome.mapRefund(refund -> permits -> refund.refund(permits)
                .whenComplete((done, thrown) -> permits.keySet().forEach(this::evict)));
        return lease == null
                ? evicting
                : evicting.with(new Lease(
                        lease.permits(), new EvictingLease(evicting.charges().get(0), lease.unused())));
    }

    /** Evicts even if the refund has failed: it may have been made. */
    private void evict(Charge charge) {
        rejections.evict(charge.limit(), charge.key());
    }

    /** Evicts what is cached for the bucket when permits are refunded to it. */
    private final class EvictingLease implements Lease.Unused {

        private final Charge charge;

        private final Lease.Unused unused;

        EvictingLease(Charge charge, Lease.Unused unused) {
            this.charge = charge;
            this.unused = unused;
        }

        @Override
        public CompletionStage<Void> refund(long permits) {
            return refund(List.of(new Lease(permits, this)));
        }

        @Override
        public CompletionStage<Void> refund(List<Lease> leases) {
            List<Lease> ofStore = leases.stream()
                    .map(lease -> new Lease(lease.permits(), ((EvictingLease) lease.unused()).unused))
                    .toList();
            return unused.refund(ofStore)
                    .whenComplete(
                            (done, thrown) -> leases.forEach(lease -> evict(((EvictingLease) lease.unused()).charge)));
        }

        @Override
        public int affordable() {
            return unused.affordable();
        }

        @Override
        public boolean isAvailable() {
            return unused.isAvailable();
        }
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        CompletionStage<BucketStatus> changed = super.change(limit, key, change);
        return change.kind() == BucketChange.Kind.NONE
                ? changed
                : changed.whenComplete((status, thrown) -> rejections.evict(limit, key));
    }

    @Override
    public void forget(String limit, String keyDigest) {
        super.forget(limit, keyDigest);
        rejections.evictAll();
    }
}

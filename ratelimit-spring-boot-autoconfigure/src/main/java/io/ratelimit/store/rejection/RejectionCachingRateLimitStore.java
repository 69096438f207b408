package io.ratelimit.store.rejection;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.Lease;
import io.ratelimit.store.LeaseRemainder;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.Refund;
import io.ratelimit.store.RefundableDecisions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Rejects by itself what the store has just rejected, until the moment that the store named, though not for longer than a
 * second: then it asks again. So it rejects nothing that the store would allow, unless another instance has meanwhile
 * reset the bucket or given permits back.
 *
 * <p>What a remembered rejection says of the bucket is what the store said, less the time since: others may have taken
 * permits that were left.
 */
public final class RejectionCachingRateLimitStore implements RateLimitStore {

    private final RateLimitStore store;

    private final RejectionCache rejections;

    public RejectionCachingRateLimitStore(RateLimitStore store) {
        this(store, System::nanoTime);
    }

    /** @param nanos a monotonic clock */
    RejectionCachingRateLimitStore(RateLimitStore store, LongSupplier nanos) {
        this.store = store;
        this.rejections = new RejectionCache(nanos);
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        RateLimitDecision known = rejections.find(charge);
        if (known != null) {
            return known;
        }
        RejectionCache.Question question = rejections.ask(charge);
        RateLimitDecision decision = store.decide(charge);
        question.answered(charge, decision);
        return decision;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        List<RateLimitDecision> known = rejections.find(charges);
        if (known != null) {
            return known;
        }
        RejectionCache.Question question = rejections.ask(charges);
        List<RateLimitDecision> decisions = store.decide(charges);
        question.answered(charges, decisions);
        return decisions;
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        List<RateLimitDecision> known = rejections.find(charges);
        if (known != null) {
            return CompletableFuture.completedFuture(known);
        }
        RejectionCache.Question question = rejections.ask(charges);
        return store.decideAsync(charges).thenApply(decisions -> {
            question.answered(charges, decisions);
            return decisions;
        });
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        List<RateLimitDecision> known = rejections.find(charges);
        if (known != null) {
            return CompletableFuture.completedFuture(new RefundableDecisions(known, Refund.NONE));
        }
        RejectionCache.Question question = rejections.ask(charges);
        return store.decideRefundably(charges).thenApply(decided -> {
            question.answered(charges, decided.decisions());
            return new RefundableDecisions(decided.decisions(), forgetting(decided.refund()));
        });
    }

    @Override
    public CompletionStage<Lease> lease(Charge charge, long more) {
        RateLimitDecision known = rejections.find(charge);
        if (known != null) {
            return CompletableFuture.completedFuture(
                    new Lease(known, 0, permits -> CompletableFuture.completedFuture(null)));
        }
        RejectionCache.Question question = rejections.ask(charge);
        return store.lease(charge, more).thenApply(lease -> {
            question.answered(charge, lease.decision());
            return new Lease(lease.decision(), lease.more(), new Forgetting(charge, lease.unused()));
        });
    }

    @Override
    public CompletionStage<Void> refundLeases(List<LeaseRemainder> remainders) {
        return store.refundLeases(remainders.stream().map(Forgetting::ofStore).toList())
                .whenComplete((done, thrown) -> remainders.forEach(Forgetting::forget));
    }

    @Override
    public int affordableRefunds() {
        return store.affordableRefunds();
    }

    /** Whether or not it could be given back: it may have been. */
    private final class Forgetting implements Lease.Unused {

        private final Charge charge;

        private final Lease.Unused unused;

        Forgetting(Charge charge, Lease.Unused unused) {
            this.charge = charge;
            this.unused = unused;
        }

        static LeaseRemainder ofStore(LeaseRemainder remainder) {
            return remainder.unused() instanceof Forgetting known
                    ? new LeaseRemainder(known.unused, remainder.permits())
                    : remainder;
        }

        static void forget(LeaseRemainder remainder) {
            if (remainder.unused() instanceof Forgetting known) {
                known.forget();
            }
        }

        private void forget() {
            rejections.forget(charge.limit(), charge.key());
        }

        @Override
        public CompletionStage<Void> refund(long permits) {
            return unused.refund(permits).whenComplete((done, thrown) -> forget());
        }
    }

    /** Whether or not it could be given back: it may have been. */
    private Refund forgetting(Refund refund) {
        return charges -> refund.refund(charges)
                .whenComplete(
                        (done, thrown) -> charges.forEach(charge -> rejections.forget(charge.limit(), charge.key())));
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        return store.peek(charge);
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        try {
            store.reset(limit, key);
        } finally {
            rejections.forget(limit, key);
        }
    }

    @Override
    public CompletionStage<Void> check() {
        return store.check();
    }
}

package io.ratelimit.store;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Asks another store; to be overridden in part. */
public class ForwardingStore implements RateLimitStore {

    private final RateLimitStore store;

    public ForwardingStore(RateLimitStore store) {
        this.store = store;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return store.decide(charges);
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return store.decideAsync(charges);
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        return store.decideRefundably(charges);
    }

    @Override
    public CompletionStage<Lease> lease(Charge charge, long more) {
        return store.lease(charge, more);
    }

    @Override
    public CompletionStage<Void> refundLeases(List<LeaseRemainder> remainders) {
        return store.refundLeases(remainders);
    }

    @Override
    public int affordableRefunds() {
        return store.affordableRefunds();
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        return store.peek(charge);
    }

    @Override
    public void reset(RateLimit limit, String key) {
        store.reset(limit, key);
    }
}

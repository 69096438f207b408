package io.ratelimit.store;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Decides by a store's other path, the one that does not block, and waits for it. */
public record AsyncStore(RateLimitStore store) implements RateLimitStore {

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        try {
            return store.decideAsync(charges).toCompletableFuture().join();
        } catch (CompletionException ex) {
            throw ex.getCause() instanceof RuntimeException cause ? cause : ex;
        }
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
    public RateLimitDecision peek(Charge charge) {
        return store.peek(charge);
    }

    @Override
    public void reset(RateLimit limit, String key) {
        store.reset(limit, key);
    }
}

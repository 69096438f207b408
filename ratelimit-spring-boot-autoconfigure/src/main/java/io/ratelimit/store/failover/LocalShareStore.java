package io.ratelimit.store.failover;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.RefundableDecisions;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Lets a store decide by the {@linkplain RateLimit#local() share} of this instance. A bucket is the same for both. */
public final class LocalShareStore implements RateLimitStore {

    private final RateLimitStore store;

    public LocalShareStore(RateLimitStore store) {
        this.store = store;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return store.decide(local(charges));
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        return store.decide(local(charge));
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return store.decideAsync(local(charges));
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        return store.decideRefundably(local(charges))
                .thenApply(decided -> new RefundableDecisions(
                        decided.decisions(), refunded -> decided.refund().refund(local(refunded))));
    }

    @Override
    public boolean isNonBlocking() {
        return store.isNonBlocking();
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        return store.peek(local(charge));
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        store.reset(limit.local(), key);
    }

    private static List<Charge> local(List<Charge> charges) {
        return charges.stream().map(LocalShareStore::local).toList();
    }

    private static Charge local(Charge charge) {
        return new Charge(charge.limit().local(), charge.key(), charge.permits());
    }
}

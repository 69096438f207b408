package io.ratelimit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Decides by {@link OnStoreFailure} what the store could not. */
public final class FailoverRateLimitStore implements RateLimitStore {

    private final RateLimitStore store;

    private final RateLimitStore local;

    private final FailureLog failures = new FailureLog();

    /**
     * @param store the one that may fail
     * @param local the one that decides meanwhile, where the policy is {@link OnStoreFailure#LOCAL}
     */
    public FailoverRateLimitStore(RateLimitStore store, RateLimitStore local) {
        this.store = store;
        this.local = local;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        try {
            List<RateLimitDecision> decisions = store.decide(charges);
            failures.success();
            return decisions;
        } catch (RateLimitStoreException ex) {
            return fallBack(charges, ex);
        }
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return start(charges).handle((decisions, thrown) -> {
            if (thrown == null) {
                failures.success();
                return decisions;
            }
            Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
            if (cause instanceof RateLimitStoreException ex) {
                return fallBack(charges, ex);
            }
            throw new CompletionException(cause);
        });
    }

    private CompletionStage<List<RateLimitDecision>> start(List<Charge> charges) {
        try {
            return store.decideAsync(charges);
        } catch (RateLimitStoreException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        return decideAsync(charges).thenApply(decisions -> new RefundableDecisions(decisions, Refund.NONE));
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        try {
            return store.peek(charge);
        } catch (RateLimitStoreException ex) {
            failures.failure(charge.limit(), ex);
            return switch (policy(charge)) {
                case LOCAL -> local.peek(charge);
                case ALLOW -> RateLimitDecision.unlimited(charge.limit().capacity());
                case REJECT -> throw new RateLimitRefusedException(ex);
                case THROW -> throw ex;
            };
        }
    }

    /** @throws RateLimitStoreException whatever the policy is, because the store has not forgotten the bucket */
    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        local.reset(limit, key);
        store.reset(limit, key);
    }

    private List<RateLimitDecision> fallBack(List<Charge> charges, RateLimitStoreException failure) {
        failures.failure(charges.get(0).limit(), failure);
        if (anyFailsBy(OnStoreFailure.THROW, charges)) {
            throw failure;
        }
        if (anyFailsBy(OnStoreFailure.REJECT, charges)) {
            throw new RateLimitRefusedException(failure);
        }
        if (!anyFailsBy(OnStoreFailure.ALLOW, charges)) {
            return local.decide(charges);
        }
        List<Charge> limited = charges.stream()
                .filter(charge -> policy(charge) == OnStoreFailure.LOCAL)
                .toList();
        List<RateLimitDecision> decided = limited.isEmpty() ? List.of() : local.decide(limited);
        List<RateLimitDecision> decisions = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            int index = limited.indexOf(charge);
            decisions.add(index < 0 ? RateLimitDecision.unlimited(charge.limit().capacity()) : decided.get(index));
        }
        return decisions;
    }

    /** A limit in dry run has no say: it refuses nothing, and leaves the application alone. */
    private static OnStoreFailure policy(Charge charge) {
        OnStoreFailure policy = charge.limit().onStoreFailure();
        boolean refuses = policy == OnStoreFailure.REJECT || policy == OnStoreFailure.THROW;
        return refuses && charge.limit().dryRun() ? OnStoreFailure.ALLOW : policy;
    }

    private static boolean anyFailsBy(OnStoreFailure policy, List<Charge> charges) {
        for (Charge charge : charges) {
            if (policy(charge) == policy) {
                return true;
            }
        }
        return false;
    }
}

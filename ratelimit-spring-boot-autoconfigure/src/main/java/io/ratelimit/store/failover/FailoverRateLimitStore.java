package io.ratelimit.store.failover;

import io.ratelimit.Charge;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.Refund;
import io.ratelimit.store.RefundableDecisions;
import io.ratelimit.store.StoreFailure;
import io.ratelimit.store.StoreHealth;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Decides by {@link OnStoreFailure} what the store could not. */
public final class FailoverRateLimitStore implements RateLimitStore, StoreHealth {

    /** The store itself ends a check earlier. */
    private static final Duration CHECK = Duration.ofSeconds(10);

    private final RateLimitStore store;

    private final RateLimitStore local;

    private final OutageTracker outages;

    /**
     * @param store the one that may fail
     * @param local the one that decides meanwhile, where the policy is {@link OnStoreFailure#LOCAL}
     */
    public FailoverRateLimitStore(RateLimitStore store, RateLimitStore local) {
        this(store, local, System::nanoTime);
    }

    /** @param nanos the clock of outages */
    FailoverRateLimitStore(RateLimitStore store, RateLimitStore local, LongSupplier nanos) {
        this.store = store;
        this.local = local;
        this.outages = new OutageTracker(store::check, nanos);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        try {
            List<RateLimitDecision> decisions = store.decide(charges);
            outages.success();
            return decisions;
        } catch (RateLimitStoreException ex) {
            return fallBack(charges, ex);
        }
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        try {
            RateLimitDecision decision = store.decide(charge);
            outages.success();
            return decision;
        } catch (RateLimitStoreException ex) {
            return fallBack(List.of(charge), ex).get(0);
        }
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return Futures.start(() -> store.decideAsync(charges)).handle((decisions, thrown) -> {
            if (thrown == null) {
                outages.success();
                return decisions;
            }
            return fallBack(charges, trouble(thrown));
        });
    }

    /** The store that decided is given back to. If it fails to take it, that is logged and no affair of the caller. */
    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        return Futures.start(() -> store.decideRefundably(charges))
                .handle((decided, thrown) -> {
                    if (thrown == null) {
                        outages.success();
                        return CompletableFuture.completedFuture(
                                new RefundableDecisions(decided.decisions(), forgiving(decided.refund())));
                    }
                    return fallBackRefundably(charges, trouble(thrown));
                })
                .thenCompose(Function.identity());
    }

    private Refund forgiving(Refund refund) {
        return charges -> Futures.start(() -> refund.refund(charges)).exceptionally(thrown -> {
            outages.notGivenBack(charges.get(0).limit(), trouble(thrown));
            return null;
        });
    }

    /** Trouble with the store; whatever else it is, such as a mistake in the call, passes. */
    private static RateLimitStoreException trouble(Throwable thrown) {
        Throwable cause = Futures.unwrap(thrown);
        if (cause instanceof RateLimitStoreException failure) {
            return failure;
        }
        throw Futures.wrap(cause);
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        try {
            return store.peek(charge);
        } catch (RateLimitStoreException ex) {
            outages.failure(List.of(charge.limit()), ex);
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

    @Override
    public CompletionStage<Void> check() {
        return store.check();
    }

    @Override
    public List<StoreFailure> failures() {
        long end = System.nanoTime() + CHECK.toNanos();
        BoundedWait.await(store.check().handle(outages::checked).toCompletableFuture(), () -> end - System.nanoTime());
        return outages.failures();
    }

    private List<RateLimitDecision> fallBack(List<Charge> charges, RateLimitStoreException failure) {
        List<Charge> limited = limitedLocally(charges, failure);
        return limited.isEmpty()
                ? together(charges, limited, List.of())
                : together(charges, limited, local.decide(limited));
    }

    private CompletionStage<RefundableDecisions> fallBackRefundably(
            List<Charge> charges, RateLimitStoreException failure) {
        List<Charge> limited = limitedLocally(charges, failure);
        if (limited.isEmpty()) {
            return CompletableFuture.completedFuture(
                    new RefundableDecisions(together(charges, limited, List.of()), Refund.NONE));
        }
        return local.decideRefundably(limited)
                .thenApply(decided ->
                        new RefundableDecisions(together(charges, limited, decided.decisions()), decided.refund()));
    }

    /**
     * The charges that the local store decides; the others are let pass.
     *
     * @throws RateLimitStoreException if any charge's policy is not to let it pass
     */
    private List<Charge> limitedLocally(List<Charge> charges, RateLimitStoreException failure) {
        outages.failure(limits(charges), failure);
        if (anyFailsBy(OnStoreFailure.THROW, charges)) {
            throw failure;
        }
        if (anyFailsBy(OnStoreFailure.REJECT, charges)) {
            throw new RateLimitRefusedException(failure);
        }
        return anyFailsBy(OnStoreFailure.ALLOW, charges)
                ? charges.stream()
                        .filter(charge -> policy(charge) == OnStoreFailure.LOCAL)
                        .toList()
                : charges;
    }

    private static List<RateLimit> limits(List<Charge> charges) {
        return charges.size() == 1
                ? List.of(charges.get(0).limit())
                : charges.stream().map(Charge::limit).toList();
    }

    private static List<RateLimitDecision> together(
            List<Charge> charges, List<Charge> limited, List<RateLimitDecision> decided) {
        if (decided.size() == charges.size()) {
            return decided;
        }
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

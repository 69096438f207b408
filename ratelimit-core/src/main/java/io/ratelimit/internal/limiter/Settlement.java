package io.ratelimit.internal.limiter;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Settles what an admitted call was charged, when it is over: refunds charges, or replaces the estimate by the actual cost. Each
 * charge is settled at most once, however often this is called and by however many threads.
 */
public final class Settlement {

    /** Settles nothing. */
    public static final Settlement NONE = new Settlement(
            Refund.NONE, more -> CompletableFuture.completedFuture(null), UnaryOperator.identity(), null);

    private final Refund refund;

    private final Function<Charge, CompletionStage<Void>> store;

    private final UnaryOperator<CompletionStage<Void>> continuations;

    /** {@code null}: the call holds no permits. */
    private final @Nullable Runnable release;

    /** By the charges of the call, what was charged to limits with a rate and is not settled. */
    private final Map<Charge, Charge> open = new ConcurrentHashMap<>();

    private Settlement(
            Refund refund,
            Function<Charge, CompletionStage<Void>> store,
            UnaryOperator<CompletionStage<Void>> continuations,
            @Nullable Runnable release) {
        this.refund = refund;
        this.store = store;
        this.continuations = continuations;
        this.release = release;
    }

    /**
     * Creates the settlement of a call that was admitted.
     *
     * @param charges those of the call. Those of the outcome differ if a limit has changed while the call waited
     * @param store charges permits even beyond the capacity
     * @param continuations determines where the continuations of the work run
     * @param release releases the permits that the call holds, and changes nothing if it has; {@code null}: the call holds none
     */
    public static Settlement of(
            List<Charge> charges,
            StoreOutcome outcome,
            Function<Charge, CompletionStage<Void>> store,
            UnaryOperator<CompletionStage<Void>> continuations,
            @Nullable Runnable release) {
        Settlement settlement = new Settlement(outcome.refund(), store, continuations, release);
        for (int i = 0; i < charges.size(); i++) {
            Charge taken = outcome.charges().get(i);
            // A limit in dry run that would have rejected the call has charged nothing, nor has one that was disabled.
            if (taken.limit().hasRate() && taken.limit().enabled() && outcome.isCharged(i)) {
                settlement.open.put(charges.get(i), taken);
            }
        }
        return settlement;
    }

    /** Returns whether the call holds permits until it releases them. */
    public boolean holdsPermits() {
        return release != null;
    }

    /** Releases the permits that the call holds in the background, if it holds any. Doing so again changes nothing. */
    public void release() {
        if (release != null) {
            release.run();
        }
    }

    /** Refunds charges: settles them at a cost of 0. */
    public CompletionStage<Void> refund(List<Charge> charges) {
        Map<Charge, Long> costs = new LinkedHashMap<>();
        charges.forEach(charge -> costs.put(charge, 0L));
        return settle(costs);
    }

    /**
     * Refunds what was charged in excess of the actual cost, or charges the rest, even beyond the capacity. Does not block the
     * caller.
     *
     * @param costs what some of the charges should have been; one that has taken nothing, or was settled before, is ignored
     * @return completes with {@link io.ratelimit.RateLimitStoreException} if the store fails
     */
    public CompletionStage<Void> settle(Map<Charge, Long> costs) {
        Map<Charge, Long> excess = new LinkedHashMap<>();
        List<CompletionStage<Void>> work = new ArrayList<>(1);
        costs.forEach((charge, cost) -> {
            Charge taken = open.remove(charge);
            if (taken == null) {
                return;
            }
            long more = cost - taken.permits();
            if (more < 0) {
                excess.put(taken, -more);
            } else if (more > 0) {
                work.add(store.apply(new Charge(taken.limit(), taken.key(), more)));
            }
        });
        if (!excess.isEmpty()) {
            work.add(refund.refund(excess));
        }
        return continuations.apply(work.size() == 1 ? work.get(0) : Futures.forAll(work, each -> each));
    }
}

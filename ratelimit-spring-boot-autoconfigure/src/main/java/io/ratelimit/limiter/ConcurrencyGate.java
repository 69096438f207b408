package io.ratelimit.limiter;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.Waiter;
import io.ratelimit.concurrent.Continuations;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/**
 * Lets calls in that hold permits of concurrency limits until they release them. A call that may wait for permits takes its turn
 * in {@link PermitQueues}.
 */
final class ConcurrencyGate {

    private final RateLimitStore store;

    private final CallAdmission admission;

    private final CallObserver observer;

    private final Continuations continuations;

    private final HeldPermitCounts heldPermits = new HeldPermitCounts();

    private final PermitQueues queues;

    /** @param patience the longest time that a decision takes */
    ConcurrencyGate(
            RateLimitStore store,
            CallAdmission admission,
            CallObserver observer,
            Waiter waiter,
            Continuations continuations,
            Duration patience) {
        this.store = store;
        this.admission = admission;
        this.observer = observer;
        this.continuations = continuations;
        this.queues = new PermitQueues(store, waiter, patience);
    }

    /** Does the same as {@link RateLimitGate#enter(AcquireRequest)}. */
    Settlement enter(AcquireRequest acquire) {
        StoreOutcome outcome = decide(acquire);
        Settlement hold = hold(acquire, outcome, UnaryOperator.identity());
        try {
            admission.admit(acquire, outcome);
            return hold;
        } catch (Throwable ex) {
            // A limit in dry run has permits even if another one rejects the call.
            hold.release();
            throw ex;
        }
    }

    private StoreOutcome decide(AcquireRequest acquire) {
        StoreRequest request = acquire.toStore();
        try {
            return PermitQueues.isFor(acquire.charges()) ? queues.decide(request, observer) : store.decide(request);
        } catch (RateLimitStoreException ex) {
            admission.reportRefusal(acquire.charges(), ex);
            throw ex;
        }
    }

    /** Completes the stage of the caller. If it is complete before, the call stops waiting and holds nothing. */
    void enterAsync(AcquireRequest acquire, CallObserver ofCall, CompletableFuture<Settlement> entered) {
        var unused = continuations.apart(decideAsync(acquire, ofCall, entered)).whenComplete((outcome, thrown) -> {
            if (outcome == null) {
                Throwable failure = Futures.unwrap(thrown);
                admission.reportFailure(acquire.charges(), failure);
                entered.completeExceptionally(failure);
            } else {
                admitAsync(acquire, outcome, ofCall, entered);
            }
        });
    }

    private CompletableFuture<StoreOutcome> decideAsync(
            AcquireRequest acquire, CallObserver ofCall, CompletableFuture<Settlement> entered) {
        if (!PermitQueues.isFor(acquire.charges())) {
            return Futures.start(() -> store.decideAsync(acquire.toStore()));
        }
        CompletableFuture<StoreOutcome> decided = Futures.start(() -> queues.decideAsync(acquire.toStore(), ofCall));
        var unused = entered.whenComplete((settlement, thrown) -> decided.cancel(false));
        return decided;
    }

    private void admitAsync(
            AcquireRequest acquire, StoreOutcome outcome, CallObserver ofCall, CompletableFuture<Settlement> entered) {
        Settlement hold = hold(acquire, outcome, continuations::apart);
        var unused = Futures.start(() -> admission.admitAsync(acquire, outcome, ofCall, entered))
                .whenComplete((over, failure) -> {
                    if (failure != null || !entered.complete(hold)) {
                        hold.release();
                    }
                    if (failure != null) {
                        entered.completeExceptionally(Futures.unwrap(failure));
                    }
                });
    }

    private Settlement hold(AcquireRequest acquire, StoreOutcome outcome, UnaryOperator<CompletionStage<Void>> apart) {
        return acquire.settlement(outcome, store, apart).holding(new PermitHold(outcome, heldPermits, queues));
    }

    /** Wakes the first call that waits for permits of a bucket, as {@link RateLimitGate#permitsReleased} does. */
    void permitsReleased(String limit, String keyDigest) {
        queues.released(limit, keyDigest);
    }

    HeldPermitCounts heldPermits() {
        return heldPermits;
    }
}

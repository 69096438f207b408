package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.Continuations;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/**
 * Lets calls in that hold permits of concurrency limits until they release them. A call that may wait for permits takes its turn
 * in {@link PermitQueueRegistry}.
 *
 * @param queues those of a parent context with the same store, too: a release in one context wakes a call of the other
 */
record ConcurrencyGate(
        RateLimitStore store,
        CallAdmission admission,
        CallObserver observer,
        Continuations continuations,
        PermitQueueRegistry queues) {

    /** Charges all limits or none, and waits: see {@link RateLimitGate#enter(AcquireRequest)}. */
    Settlement enter(AcquireRequest acquire) {
        StoreOutcome outcome = decide(acquire);
        try {
            admission.admit(acquire.as(outcome), outcome);
            return settlement(acquire, outcome, UnaryOperator.identity());
        } catch (Throwable ex) {
            // A limit in dry run has permits even if another one rejects the call.
            release(acquire, outcome);
            throw ex;
        }
    }

    private StoreOutcome decide(AcquireRequest acquire) {
        StoreRequest request = acquire.toStore();
        try {
            return WaitingCall.isFor(acquire.charges())
                    ? queues.decide(request, observer)
                    : store.decide(request).await();
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
                try {
                    admission.reportFailure(acquire.charges(), failure);
                } finally {
                    entered.completeExceptionally(failure);
                }
            } else {
                admitAsync(acquire, outcome, ofCall, entered);
            }
        });
    }

    private CompletableFuture<StoreOutcome> decideAsync(
            AcquireRequest acquire, CallObserver ofCall, CompletableFuture<Settlement> entered) {
        if (!WaitingCall.isFor(acquire.charges())) {
            return Futures.start(() -> store.decide(acquire.toStore()).toStage());
        }
        CompletableFuture<StoreOutcome> decided = Futures.start(() -> queues.decideAsync(acquire.toStore(), ofCall));
        var unused = entered.whenComplete((settlement, thrown) -> decided.cancel(false));
        return decided;
    }

    private void admitAsync(
            AcquireRequest acquire, StoreOutcome outcome, CallObserver ofCall, CompletableFuture<Settlement> entered) {
        var unused = Futures.start(() -> admission
                        .admitAsync(acquire.as(outcome), outcome, ofCall, entered)
                        .thenApply(over -> settlement(acquire, outcome, continuations::apart)))
                .whenComplete((settlement, failure) -> {
                    try {
                        if (failure != null || !entered.complete(settlement)) {
                            release(acquire, outcome);
                        }
                    } finally {
                        if (failure != null) {
                            entered.completeExceptionally(Futures.unwrap(failure));
                        }
                    }
                });
    }

    private Settlement settlement(
            AcquireRequest acquire, StoreOutcome outcome, UnaryOperator<CompletionStage<Void>> apart) {
        return acquire.settlement(outcome, store, apart).releasing(() -> release(acquire, outcome));
    }

    /** Releases the permits that the call holds, also if it does not take place. The store ends each hold once. */
    private void release(AcquireRequest acquire, StoreOutcome outcome) {
        List<Charge> held = outcome.charges().stream()
                .filter(charge -> !charge.limit().hasRate())
                .toList();
        queues.release(outcome.refund(), held);
        acquire.listener().onRelease();
    }
}

package io.ratelimit.internal.limiter;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.Scope;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limiter.CombinedDecision.Delay;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitListener.Outcome;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.Waiter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Admits calls that the store has decided: notifies the listeners, applies dry run, throws an exception if a limit rejects the
 * call, and waits for reserved permits.
 */
final class CallAdmission {

    private final RateLimitListener listener;

    private final CallObserver observer;

    private final Waiter waiter;

    private final ExcessivePermitsLog capacityLog = new ExcessivePermitsLog();

    private final WaitingCallCounts waiting = new WaitingCallCounts();

    private final FirstFailureLog failures = new FirstFailureLog(
            "io.ratelimit.listeners", "The listener of a call failed; further failures are not logged");

    CallAdmission(RateLimitListener listener, CallObserver observer, Waiter waiter) {
        this.listener = listener;
        this.observer = observer;
        this.waiter = waiter;
    }

    /**
     * Admits the call and blocks until it may proceed.
     *
     * @throws RateLimitExceededException if a limit rejects the call
     * @throws RateLimitInterruptedException if the thread has to wait and is interrupted
     */
    void admit(AcquireRequest acquire, StoreOutcome outcome) {
        await(delay(acquire, outcome, observer));
    }

    /** Admits a call of one charge without a call listener, and blocks until it may proceed. */
    void admit(Charge charge, RateLimitDecision decision) {
        await(delay(charge, decision, observer));
    }

    /**
     * Admits the call. A rejection is thrown by this method.
     *
     * @param caller ends the wait when it is complete
     * @return completes when the call may proceed
     */
    CompletionStage<?> admitAsync(
            AcquireRequest acquire, StoreOutcome outcome, CallObserver ofCall, CompletableFuture<?> caller) {
        Delay delay = delay(acquire, outcome, ofCall);
        if (delay == null) {
            return CompletableFuture.completedFuture(null);
        }
        Runnable over = waiting.begin(delay.limit(), ofCall);
        CompletableFuture<Void> wait = Futures.start(() -> waiter.awaitAsync(delay.time()));
        var unused = caller.whenComplete((entered, thrown) -> wait.cancel(false));
        return wait.whenComplete((done, thrown) -> over.run());
    }

    /** Notifies the listener of each decision, and admits nothing. */
    CombinedDecision report(StoreOutcome outcome, CallObserver ofCall) {
        List<Charge> charges = outcome.charges();
        for (int i = 0; i < charges.size(); i++) {
            RateLimitDecision decision = outcome.decisions().get(i);
            // A limit that allows a call which another rejects is not charged, so its decision is not reported.
            if (!decision.allowed() || outcome.isCharged(i)) {
                report(charges.get(i), decision, ofCall);
            }
        }
        return new CombinedDecision(charges, outcome.decisions());
    }

    /** Notifies the listener of a decision, and admits nothing. */
    void report(Charge charge, RateLimitDecision decision, CallObserver ofCall) {
        if (decision.allowed()) {
            listener.onDecision(charge, decision, Outcome.ALLOWED);
            return;
        }
        RateLimit limit = charge.limit();
        if (limit.dryRun()) {
            listener.onDecision(charge, decision, Outcome.DRY_RUN_REJECTED);
        } else {
            listener.onDecision(charge, decision, Outcome.REJECTED);
            ofCall.onRejection(limit);
        }
        // While the store fails, the capacity of the decision may be a share of the capacity of the limit.
        if (decision.retryAfter() == null && charge.permits() > limit.capacity()) {
            capacityLog.warn(charge);
        }
    }

    /**
     * Notifies the listener if the call has failed because the store cannot decide: of each limit whose policy refuses the call; of
     * all if the store knows no policies.
     */
    void reportFailure(List<Charge> charges, Throwable thrown) {
        if (thrown instanceof RateLimitStoreException failure) {
            boolean byPolicy = charges.stream().anyMatch(CallAdmission::refuses);
            charges.stream()
                    .filter(charge -> !byPolicy || refuses(charge))
                    .forEach(charge -> listener.onRefusal(charge, failure));
        }
    }

    private static boolean refuses(Charge charge) {
        RateLimit limit = charge.limit();
        OnStoreFailure policy = limit.onStoreFailure();
        return limit.scope() == Scope.SHARED
                && !limit.dryRun()
                && (policy == OnStoreFailure.REJECT || policy == OnStoreFailure.THROW);
    }

    /** Notifies the listeners and returns what to wait for, unless a limit rejects the call; {@code null}: nothing. */
    private @Nullable Delay delay(AcquireRequest acquire, StoreOutcome outcome, CallObserver ofCall) {
        List<Charge> charges = acquire.charges();
        notifyCallListener(acquire, outcome);
        if (charges.size() == 1) {
            return delay(charges.get(0), outcome.decision(), ofCall);
        }
        CombinedDecision combined = report(outcome, ofCall);
        if (combined.isRejected()) {
            throw combined.rejection();
        }
        return combined.delay();
    }

    private @Nullable Delay delay(Charge charge, RateLimitDecision decision, CallObserver ofCall) {
        report(charge, decision, ofCall);
        RateLimit limit = charge.limit();
        if (limit.dryRun()) {
            return null;
        }
        if (!decision.allowed()) {
            throw new RateLimitExceededException(List.of(limit.name()), decision, limit);
        }
        return decision.delay().isZero() ? null : new Delay(limit, decision.delay());
    }

    private void await(@Nullable Delay delay) {
        if (delay == null) {
            return;
        }
        Runnable over = waiting.begin(delay.limit(), observer);
        try {
            waiter.await(delay.time());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(delay.limit().name(), ex);
        } finally {
            over.run();
        }
    }

    WaitingCallCounts waiting() {
        return waiting;
    }

    private void notifyCallListener(AcquireRequest acquire, StoreOutcome outcome) {
        try {
            acquire.listener().onDecisions(acquire.charges(), outcome.decisions());
        } catch (RuntimeException ex) {
            failures.log(ex);
        }
    }

    /** Tells the listener that the call has released its permits. */
    void notifyRelease(CallListener ofCall) {
        try {
            ofCall.onRelease();
        } catch (RuntimeException ex) {
            failures.log(ex);
        }
    }
}

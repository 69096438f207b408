package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.JointDecision;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitListener;
import io.ratelimit.RateLimitListener.Outcome;
import io.ratelimit.Waiter;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Continuations;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.Refund;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Decides every call by the store, applies dry run, notifies listeners, and waits for permits. */
public final class RateLimitGate {

    private static final System.Logger listenersLogger = System.getLogger("io.ratelimit.listeners");

    private final RateLimitStore store;

    private final RateLimitListener listener;

    private final Waiter waiter;

    private final ExcessivePermitsLog capacityLog = new ExcessivePermitsLog();

    private final AtomicBoolean callListenerFailed = new AtomicBoolean();

    private final Continuations continuations = new Continuations();

    private final BooleanSupplier mustNotBlock;

    private final Duration patience;

    public RateLimitGate(RateLimitStore store, RateLimitListener listener, Waiter waiter) {
        this(store, listener, waiter, () -> false, Duration.ofMinutes(1));
    }

    /**
     * Creates a gate that throws an exception instead of blocking a thread that must not block.
     *
     * @param mustNotBlock whether the current thread must not block
     * @param patience the longest time that a blocking caller waits for a refund, which the store normally ends earlier
     */
    public RateLimitGate(
            RateLimitStore store,
            RateLimitListener listener,
            Waiter waiter,
            BooleanSupplier mustNotBlock,
            Duration patience) {
        this.mustNotBlock = mustNotBlock;
        this.patience = patience;
        this.store = store;
        this.listener = listener;
        this.waiter = waiter;
    }

    /**
     * Charges all limits or none, and waits once, for the longest delay.
     *
     * @return refunds the charges, if the request is refundable
     * @throws RateLimitExceededException if a limit rejects the call
     * @throws RateLimitInterruptedException if the thread has to wait and is interrupted
     * @throws IllegalStateException if the thread must not block; no limit is charged
     */
    public Refund enter(AcquireRequest acquire) {
        checkMayBlock(acquire.charges(), true);
        StoreOutcome outcome = store.decide(request(acquire));
        Duration delay = admit(acquire, outcome);
        if (!delay.isZero()) {
            await(delay, new CombinedDecision(acquire.charges(), outcome.decisions()));
        }
        return outcome.refund();
    }

    /** Does the same as {@link #enter(AcquireRequest)} for one charge, without a refund and without a call listener. */
    public void enter(Charge charge) {
        checkMayBlock(charge, true);
        RateLimitDecision decision = store.decide(charge);
        Duration delay = admit(charge, decision);
        if (!delay.isZero()) {
            await(delay, new CombinedDecision(List.of(charge), List.of(decision)));
        }
    }

    /**
     * Does the same as {@link #enter(AcquireRequest)} without blocking. Exceptions complete the stage. If the stage is
     * cancelled, as a {@code CompletableFuture}, it stops waiting, and the permits stay taken.
     */
    public CompletionStage<Refund> enterAsync(AcquireRequest acquire) {
        CompletableFuture<Refund> entered = new CompletableFuture<>();
        enterAsync(acquire, entered, outcome -> entered.complete(apart(outcome.refund())));
        return entered;
    }

    /** Does the same as {@link #enterAsync(AcquireRequest)} without a refund and without a call listener. */
    CompletionStage<Void> enterAsync(List<Charge> charges) {
        CompletableFuture<Void> entered = new CompletableFuture<>();
        enterAsync(new AcquireRequest(charges, false, CallListener.NONE), entered, outcome -> entered.complete(null));
        return entered;
    }

    /** Tells when the call has been admitted and its wait is over; exceptions complete the future. */
    private void enterAsync(AcquireRequest acquire, CompletableFuture<?> entered, Consumer<StoreOutcome> admitted) {
        var unused = continuations
                .apart(Futures.start(() -> store.decideAsync(request(acquire))))
                .thenCompose(outcome ->
                        awaitAsync(admit(acquire, outcome), entered).thenAccept(over -> admitted.accept(outcome)))
                .exceptionally(thrown -> {
                    entered.completeExceptionally(Futures.unwrap(thrown));
                    return null;
                });
    }

    private Refund apart(Refund refund) {
        return refund == Refund.NONE ? refund : charges -> continuations.apart(refund.refund(charges));
    }

    /** Blocks until the refund of a blocking caller has succeeded or failed. */
    public void await(CompletionStage<?> refund) {
        long end = System.nanoTime() + patience.toNanos();
        BoundedWait.await(refund.toCompletableFuture(), () -> end - System.nanoTime());
    }

    /** @param waits whether the call waits for permits that it has reserved */
    private void checkMayBlock(Charge charge, boolean waits) {
        RateLimit limit = charge.limit();
        if (((waits && limit.mayDelay()) || !isNonBlocking(limit)) && mustNotBlock.getAsBoolean()) {
            throw new IllegalStateException("A rate limiter was called on thread "
                    + Thread.currentThread().getName()
                    + ", which must not block, because many calls share it. Call tryAcquireAsync or acquireAsync, or call it on a thread that"
                    + " may block: by thenApplyAsync, or in a Mono.fromCallable with"
                    + " .subscribeOn(Schedulers.boundedElastic()).");
        }
    }

    private void checkMayBlock(List<Charge> charges, boolean waits) {
        for (int i = 0; i < charges.size(); i++) {
            checkMayBlock(charges.get(i), waits);
        }
    }

    /** Returns whether decisions about this limit never wait, so that calls only wait for permits. */
    public boolean isNonBlocking(RateLimit limit) {
        return store.isNonBlocking(limit);
    }

    /** Does the same as {@link #enter(AcquireRequest)} without a refund and without a call listener. */
    void enter(List<Charge> charges) {
        enter(new AcquireRequest(charges, false, CallListener.NONE));
    }

    private static StoreRequest request(AcquireRequest acquire) {
        return StoreRequest.of(acquire.charges(), acquire.refundable());
    }

    /**
     * Notifies the listeners and admits the call.
     *
     * @return the time to wait
     * @throws RateLimitExceededException if a limit rejects the call
     */
    private Duration admit(AcquireRequest acquire, StoreOutcome outcome) {
        List<Charge> charges = acquire.charges();
        notifyCallListener(acquire, outcome);
        if (charges.size() == 1) {
            return admit(charges.get(0), outcome.decision());
        }
        CombinedDecision combined = notifyListener(outcome);
        if (combined.isRejected()) {
            throw combined.rejection();
        }
        return combined.delay();
    }

    private Duration admit(Charge charge, RateLimitDecision decision) {
        notifyListener(charge, decision);
        RateLimit limit = charge.limit();
        if (limit.dryRun()) {
            return Duration.ZERO;
        }
        if (!decision.allowed()) {
            throw new RateLimitExceededException(List.of(limit.name()), decision, limit.isBlockedBy(decision));
        }
        return decision.delay();
    }

    /** Does the same as {@link #decide(List)} for one charge. */
    RateLimitDecision decide(Charge charge) {
        checkMayBlock(charge, false);
        RateLimitDecision decision = store.decide(charge);
        notifyListener(charge, decision);
        return applyDryRun(charge, decision);
    }

    /** Charges all limits or none, and does not wait. */
    public JointDecision decide(List<Charge> charges) {
        checkMayBlock(charges, false);
        return notifyListener(store.decide(StoreRequest.of(charges))).joint();
    }

    /** Does the same as {@link #decide(List)} without blocking. */
    CompletionStage<JointDecision> decideAsync(List<Charge> charges) {
        return continuations
                .apart(store.decideAsync(StoreRequest.of(charges)))
                .thenApply(outcome -> notifyListener(outcome).joint());
    }

    RateLimitDecision peek(Charge charge) {
        checkMayBlock(charge, false);
        return applyDryRun(charge, store.peek(charge));
    }

    CompletionStage<RateLimitDecision> peekAsync(Charge charge) {
        return continuations.apart(store.peekAsync(charge)).thenApply(decision -> applyDryRun(charge, decision));
    }

    private static RateLimitDecision applyDryRun(Charge charge, RateLimitDecision decision) {
        return charge.limit().dryRun() ? decision.asAllowed() : decision;
    }

    /** Resets the bucket of the charge. */
    void reset(Charge bucket) {
        checkMayBlock(bucket, false);
        store.reset(bucket.limit(), bucket.key());
    }

    CompletionStage<Void> resetAsync(Charge bucket) {
        return continuations.apart(store.resetAsync(bucket.limit(), bucket.key()));
    }

    private void await(Duration delay, CombinedDecision combined) {
        try {
            waiter.await(delay);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(combined.delayedBy(delay), ex);
        }
    }

    /** Waits until the caller's stage is complete, at most. */
    private CompletionStage<?> awaitAsync(Duration delay, CompletableFuture<?> caller) {
        if (delay.isZero()) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> wait = waiter.awaitAsync(delay).toCompletableFuture();
        var unused = caller.whenComplete((refund, thrown) -> wait.cancel(false));
        return wait;
    }

    private void notifyCallListener(AcquireRequest acquire, StoreOutcome outcome) {
        try {
            acquire.listener().onDecisions(acquire.charges(), outcome.decisions());
        } catch (RuntimeException ex) {
            if (callListenerFailed.compareAndSet(false, true)) {
                listenersLogger.log(
                        Level.WARNING, "The listener of a call failed; further failures are not logged", ex);
            }
        }
    }

    /** Notifies the listener of each decision. */
    private CombinedDecision notifyListener(StoreOutcome outcome) {
        List<Charge> charges = outcome.charges();
        for (int i = 0; i < charges.size(); i++) {
            RateLimitDecision decision = outcome.decisions().get(i);
            // A limit that allows a call which another rejects is not charged, so its decision is not reported.
            if (!decision.allowed() || outcome.isCharged(i)) {
                notifyListener(charges.get(i), decision);
            }
        }
        return new CombinedDecision(charges, outcome.decisions());
    }

    private void notifyListener(Charge charge, RateLimitDecision decision) {
        if (decision.allowed()) {
            listener.onDecision(charge, decision, Outcome.ALLOWED);
            return;
        }
        RateLimit limit = charge.limit();
        listener.onDecision(charge, decision, limit.dryRun() ? Outcome.DRY_RUN_REJECTED : Outcome.REJECTED);
        // While the store fails, the capacity of the decision may be a share of the capacity of the limit.
        if (decision.retryAfter() == null && charge.permits() > limit.capacity()) {
            capacityLog.warn(charge);
        }
    }
}

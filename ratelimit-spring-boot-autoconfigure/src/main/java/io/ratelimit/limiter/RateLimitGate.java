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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The only way to the store: asks it, allows what is in dry run, tells the listeners, and waits. */
public final class RateLimitGate {

    private final RateLimitStore store;

    private final RateLimitListener listener;

    private final Waiter waiter;

    private final ExcessivePermitsLog capacityLog = new ExcessivePermitsLog();

    private final CompositeCallListener callListeners = new CompositeCallListener();

    private final Continuations continuations = new Continuations();

    private final BooleanSupplier mustNotBlock;

    private final Duration patience;

    public RateLimitGate(RateLimitStore store, RateLimitListener listener, Waiter waiter) {
        this(store, listener, waiter, () -> false, Duration.ofMinutes(1));
    }

    /**
     * Makes a gate that refuses to block threads that must not.
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
     * Charges every limit, or none, and waits once for the last of the slots that were taken.
     *
     * @return refunds what the call has taken, if it is refundable
     * @throws RateLimitExceededException if a limit rejects
     * @throws RateLimitInterruptedException if the thread has to wait and is interrupted
     * @throws IllegalStateException if the thread might have to wait and must not; nothing is charged then
     */
    public Refund enter(AcquireRequest entry) {
        checkMayBlock();
        StoreOutcome outcome = store.decide(request(entry));
        Duration delay = admitted(entry, outcome);
        if (!delay.isZero()) {
            await(delay, new CombinedDecision(entry.charges(), outcome.decisions()));
        }
        return outcome.refund();
    }

    /** As {@link #enter(AcquireRequest)}, for one charge without a refund and without a listener of the call. */
    public void enter(Charge charge) {
        checkMayBlock();
        RateLimitDecision decision = store.decide(StoreRequest.of(charge)).decision();
        Duration delay = admitted(charge, decision);
        if (!delay.isZero()) {
            await(delay, new CombinedDecision(List.of(charge), List.of(decision)));
        }
    }

    /**
     * As {@link #enter(AcquireRequest)}, but never blocks, and never throws: what that throws, the stage completes with, itself or
     * in a {@link CompletionException}. Waits without a thread; cancelled as a {@code CompletableFuture}, it waits no
     * longer, and what was taken stays taken.
     */
    public CompletionStage<Refund> enterAsync(AcquireRequest entry) {
        CompletableFuture<Refund> entered = new CompletableFuture<>();
        continuations
                .apart(Futures.start(() -> store.decideAsync(request(entry))))
                .thenCompose(outcome ->
                        awaitAsync(admitted(entry, outcome), entered).thenApply(over -> apart(outcome.refund())))
                .whenComplete((refund, thrown) -> {
                    if (thrown == null) {
                        entered.complete(refund);
                    } else {
                        entered.completeExceptionally(thrown);
                    }
                });
        return entered;
    }

    private Refund apart(Refund refund) {
        return refund == Refund.NONE ? refund : charges -> continuations.apart(refund.refund(charges));
    }

    /** Blocks until the refund of a blocking caller has succeeded or failed. */
    public void await(CompletionStage<?> refund) {
        long end = System.nanoTime() + patience.toNanos();
        BoundedWait.await(refund.toCompletableFuture(), () -> end - System.nanoTime());
    }

    private void checkMayBlock() {
        if (!store.isNonBlocking() && mustNotBlock.getAsBoolean()) {
            throw new IllegalStateException("A rate limiter was called on thread "
                    + Thread.currentThread().getName()
                    + ", which must not block, because many calls share it. Call tryAcquireAsync, or call it on a thread that"
                    + " may block, for example by thenApplyAsync or Schedulers.boundedElastic().");
        }
    }

    /** Returns whether the store never waits, so that calls only wait for permits. */
    public boolean isNonBlocking() {
        return store.isNonBlocking();
    }

    /** As {@link #enter(AcquireRequest)}, without a refund and without a listener of the call. */
    void enter(List<Charge> charges) {
        enter(new AcquireRequest(charges, false, CallListener.NONE));
    }

    private static StoreRequest request(AcquireRequest entry) {
        return new StoreRequest(entry.charges(), entry.refundable(), 0);
    }

    /**
     * Lets the entry in.
     *
     * @return how long it has to wait
     * @throws RateLimitExceededException if a limit rejects
     */
    private Duration admitted(AcquireRequest entry, StoreOutcome outcome) {
        List<Charge> charges = entry.charges();
        callListeners.tell(entry.listener(), charges, outcome.decisions());
        if (charges.size() == 1) {
            return admitted(charges.get(0), outcome.decision());
        }
        CombinedDecision verdict = told(outcome);
        if (verdict.isRejected()) {
            throw verdict.rejection();
        }
        return verdict.delay();
    }

    private Duration admitted(Charge charge, RateLimitDecision decision) {
        tell(charge, decision);
        RateLimit limit = charge.limit();
        if (limit.dryRun()) {
            return Duration.ZERO;
        }
        if (!decision.allowed()) {
            throw new RateLimitExceededException(limit.name(), decision);
        }
        return decision.delay();
    }

    /** As {@link #decide(List)}, of one charge. */
    RateLimitDecision decide(Charge charge) {
        checkMayBlock();
        RateLimitDecision decision = store.decide(StoreRequest.of(charge)).decision();
        tell(charge, decision);
        return applyDryRun(charge, decision);
    }

    /** Charges every limit, or none, and does not wait. */
    public JointDecision decide(List<Charge> charges) {
        checkMayBlock();
        return told(store.decide(StoreRequest.of(charges))).joint();
    }

    /** As {@link #decide(List)}, without blocking. */
    CompletionStage<JointDecision> decideAsync(List<Charge> charges) {
        return continuations
                .apart(store.decideAsync(StoreRequest.of(charges)))
                .thenApply(outcome -> told(outcome).joint());
    }

    RateLimitDecision peek(Charge charge) {
        checkMayBlock();
        return applyDryRun(charge, store.peek(charge));
    }

    private static RateLimitDecision applyDryRun(Charge charge, RateLimitDecision decision) {
        return charge.limit().dryRun() ? decision.asAllowed() : decision;
    }

    void reset(RateLimit limit, @Nullable String key) {
        checkMayBlock();
        store.reset(limit, key);
    }

    private void await(Duration delay, CombinedDecision verdict) {
        try {
            waiter.await(delay);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(verdict.delayedBy(delay), ex);
        }
    }

    /** Waits no longer than the caller does. */
    private CompletionStage<?> awaitAsync(Duration delay, CompletableFuture<?> caller) {
        if (delay.isZero()) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> wait = waiter.awaitAsync(delay).toCompletableFuture();
        var unused = caller.whenComplete((refund, thrown) -> wait.cancel(false));
        return wait;
    }

    /** Tells the listeners of the decisions, each once. */
    private CombinedDecision told(StoreOutcome outcome) {
        List<Charge> charges = outcome.charges();
        for (int i = 0; i < charges.size(); i++) {
            RateLimitDecision decision = outcome.decisions().get(i);
            // A limit that would have allowed what another rejects was not charged: it has nothing to report.
            if (!decision.allowed() || outcome.isCharged(i)) {
                tell(charges.get(i), decision);
            }
        }
        return new CombinedDecision(charges, outcome.decisions());
    }

    private void tell(Charge charge, RateLimitDecision decision) {
        if (decision.allowed()) {
            listener.onDecision(charge, decision, Outcome.ALLOWED);
            return;
        }
        RateLimit limit = charge.limit();
        listener.onDecision(charge, decision, limit.dryRun() ? Outcome.DRY_RUN_REJECTED : Outcome.REJECTED);
        // While the store fails, the capacity may be but a share of the limit's.
        if (decision.retryAfter() == null && charge.permits() > limit.capacity()) {
            capacityLog.warn(charge);
        }
    }
}

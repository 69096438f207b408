package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.JointDecision;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitListener;
import io.ratelimit.RateLimitListener.Outcome;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.Scope;
import io.ratelimit.Waiter;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Continuations;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Decides every call by the store, applies dry run, notifies listeners, and waits for permits. */
public final class RateLimitGate {

    private static final System.Logger listenersLogger = System.getLogger("io.ratelimit.listeners");

    private final RateLimitStore store;

    private final RateLimitListener listener;

    private final CallObserver observer;

    private final Waiter waiter;

    private final ExcessivePermitsLog capacityLog = new ExcessivePermitsLog();

    private final CostLog costLog = new CostLog(System::nanoTime);

    private final AtomicBoolean callListenerFailed = new AtomicBoolean();

    private final Continuations continuations = new Continuations();

    private final BooleanSupplier mustNotBlock;

    private final Duration patience;

    private final HeldPermitCounts heldPermits = new HeldPermitCounts();

    private final PermitQueues queues;

    public RateLimitGate(RateLimitStore store, RateLimitListener listener, Waiter waiter) {
        this(store, listener, CallObserver.NONE, waiter, () -> false, Duration.ofMinutes(1));
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
            CallObserver observer,
            Waiter waiter,
            BooleanSupplier mustNotBlock,
            Duration patience) {
        this.mustNotBlock = mustNotBlock;
        this.patience = patience;
        this.store = store;
        this.listener = listener;
        this.observer = observer;
        this.waiter = waiter;
        this.queues = new PermitQueues(store, waiter, patience);
    }

    /**
     * Charges all limits or none, and waits once, for the longest delay. With concurrency limits, the call holds their permits
     * until it {@linkplain Settlement#release releases} them.
     *
     * @return settles the charges, if the request is refundable
     * @throws RateLimitExceededException if a limit rejects the call
     * @throws RateLimitInterruptedException if the thread has to wait and is interrupted
     * @throws IllegalStateException if the thread must not block; no limit is charged
     */
    public Settlement enter(AcquireRequest acquire) {
        checkMayBlock(acquire.charges(), true);
        if (acquire.holdsPermits()) {
            return enterHolding(acquire);
        }
        StoreOutcome outcome = ask(request(acquire));
        Duration delay = admit(acquire, outcome, observer);
        if (!delay.isZero()) {
            await(delay, new CombinedDecision(acquire.charges(), outcome.decisions()));
        }
        return settlement(acquire, outcome, UnaryOperator.identity());
    }

    private Settlement enterHolding(AcquireRequest acquire) {
        StoreRequest request = request(acquire);
        StoreOutcome outcome = PermitQueues.isFor(acquire.charges()) ? askInTurn(request) : ask(request);
        Settlement hold = hold(acquire, outcome, UnaryOperator.identity());
        try {
            Duration delay = admit(acquire, outcome, observer);
            if (!delay.isZero()) {
                await(delay, new CombinedDecision(acquire.charges(), outcome.decisions()));
            }
            return hold;
        } catch (Throwable ex) {
            // A limit in dry run has permits even if another one rejects the call.
            hold.release();
            throw ex;
        }
    }

    private StoreOutcome askInTurn(StoreRequest request) {
        try {
            return queues.decide(request, observer);
        } catch (RateLimitStoreException ex) {
            notifyRefused(request.charges(), ex);
            throw ex;
        }
    }

    private Settlement hold(AcquireRequest acquire, StoreOutcome outcome, UnaryOperator<CompletionStage<Void>> apart) {
        return settlement(acquire, outcome, apart).holding(new PermitHold(outcome, heldPermits, queues));
    }

    /**
     * Wakes the first call that waits for permits of a bucket, in which another instance has released some.
     *
     * @param limit the {@linkplain RateLimit#id() id} of the limit
     * @param keyDigest the {@link io.ratelimit.store.KeyDigest} of the key; of an empty text for the one bucket of all callers
     */
    public void permitsReleased(String limit, String keyDigest) {
        queues.released(limit, keyDigest);
    }

    /** Returns the permits that calls hold. */
    public HeldPermitCounts heldPermits() {
        return heldPermits;
    }

    /** Does the same as {@link #enter(AcquireRequest)} for one charge, without a settlement and without a call listener. */
    public void enter(Charge charge) {
        checkMayBlock(charge, true);
        RateLimitDecision decision = ask(charge);
        Duration delay = admit(charge, decision, observer);
        if (!delay.isZero()) {
            await(delay, new CombinedDecision(List.of(charge), List.of(decision)));
        }
    }

    /**
     * Does the same as {@link #enter(AcquireRequest)} without blocking. Exceptions complete the stage. If the stage is
     * cancelled, as a {@code CompletableFuture}, it stops waiting, and the permits stay taken, except those of concurrency
     * limits.
     */
    public CompletionStage<Settlement> enterAsync(AcquireRequest acquire) {
        return enterAsync(acquire, null);
    }

    /** Returns whether reactive calls tell what they are part of. */
    public boolean isTracing() {
        return observer.isTracing();
    }

    /**
     * Does the same as {@link #enterAsync(AcquireRequest)} for a reactive call.
     *
     * @param parent as for {@link CallObserver#ofCall}
     */
    public CompletionStage<Settlement> enterAsync(AcquireRequest acquire, @Nullable Object parent) {
        CompletableFuture<Settlement> entered = new CompletableFuture<>();
        if (acquire.holdsPermits()) {
            enterHoldingAsync(acquire, parent, entered);
            return entered;
        }
        enterAsync(
                acquire,
                parent,
                entered,
                outcome -> entered.complete(settlement(acquire, outcome, continuations::apart)));
        return entered;
    }

    private void enterHoldingAsync(
            AcquireRequest acquire, @Nullable Object parent, CompletableFuture<Settlement> entered) {
        CallObserver ofCall = observer.ofCall(parent);
        var unused = continuations
                .apart(decideHolding(acquire, ofCall, entered))
                .whenComplete((outcome, thrown) -> {
                    if (outcome == null) {
                        Throwable failure = Futures.unwrap(thrown);
                        notifyIfRefused(acquire.charges(), failure);
                        entered.completeExceptionally(failure);
                    } else {
                        holdAsync(acquire, outcome, ofCall, entered);
                    }
                });
    }

    private void holdAsync(
            AcquireRequest acquire, StoreOutcome outcome, CallObserver ofCall, CompletableFuture<Settlement> entered) {
        Settlement hold = hold(acquire, outcome, continuations::apart);
        var unused = Futures.start(() -> awaitAsync(acquire, outcome, ofCall, entered))
                .whenComplete((over, failure) -> {
                    if (failure != null || !entered.complete(hold)) {
                        hold.release();
                    }
                    if (failure != null) {
                        entered.completeExceptionally(Futures.unwrap(failure));
                    }
                });
    }

    private CompletableFuture<StoreOutcome> decideHolding(
            AcquireRequest acquire, CallObserver ofCall, CompletableFuture<Settlement> entered) {
        if (!PermitQueues.isFor(acquire.charges())) {
            return Futures.start(() -> store.decideAsync(request(acquire)));
        }
        CompletableFuture<StoreOutcome> decided = Futures.start(() -> queues.decideAsync(request(acquire), ofCall));
        var unused = entered.whenComplete((refund, thrown) -> decided.cancel(false));
        return decided;
    }

    /** Does the same as {@link #enterAsync(AcquireRequest)} without a settlement and without a call listener. */
    CompletionStage<Void> enterAsync(List<Charge> charges) {
        CompletableFuture<Void> entered = new CompletableFuture<>();
        enterAsync(
                new AcquireRequest(charges, false, CallListener.NONE),
                null,
                entered,
                outcome -> entered.complete(null));
        return entered;
    }

    /** Tells when the call has been admitted and its wait is over; exceptions complete the future. */
    private void enterAsync(
            AcquireRequest acquire,
            @Nullable Object parent,
            CompletableFuture<?> entered,
            Consumer<StoreOutcome> admitted) {
        CallObserver ofCall = observer.ofCall(parent);
        var unused = continuations
                .apart(Futures.start(() -> store.decideAsync(request(acquire))))
                .thenCompose(outcome ->
                        awaitAsync(acquire, outcome, ofCall, entered).thenAccept(over -> admitted.accept(outcome)))
                .exceptionally(thrown -> {
                    Throwable failure = Futures.unwrap(thrown);
                    notifyIfRefused(acquire.charges(), failure);
                    entered.completeExceptionally(failure);
                    return null;
                });
    }

    private Settlement settlement(
            AcquireRequest acquire, StoreOutcome outcome, UnaryOperator<CompletionStage<Void>> continuations) {
        return acquire.refundable() ? Settlement.of(outcome, store::chargeAsync, continuations) : Settlement.NONE;
    }

    /** Charges permits even beyond the capacity. Does not block the caller. */
    CompletionStage<Void> chargeAsync(Charge charge) {
        checkCost(charge);
        return continuations.apart(store.chargeAsync(charge));
    }

    /** Does the same as {@link #chargeAsync}, and waits for the store. */
    void charge(Charge charge) {
        checkCost(charge);
        checkMayBlock(charge, false);
        BoundedWait.get(store.chargeAsync(charge), RateLimitStore.LONGEST);
    }

    /** Settles charges in the background. A failure of the store has been handled by its policy, and does not concern the call. */
    public void settle(Settlement settlement, Map<Charge, Long> costs) {
        var unused = Futures.start(() -> settlement.settle(costs)).exceptionally(thrown -> {
            Charge charge = costs.keySet().iterator().next();
            costLog.notSettled(charge, Futures.unwrap(thrown));
            return null;
        });
    }

    /** Logs that the actual cost of a call cannot be computed. */
    public void costUnknown(Charge charge, Throwable failure) {
        costLog.unknown(charge, failure);
    }

    private static void checkCost(Charge charge) {
        if (charge.permits() > RateLimit.MAX_CAPACITY) {
            throw new IllegalArgumentException("Limit '" + charge.limit().name() + "': permits must be at most "
                    + RateLimit.MAX_CAPACITY + " (was " + charge.permits() + ")");
        }
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

    /** Does the same as {@link #enter(AcquireRequest)} without a settlement and without a call listener. */
    void enter(List<Charge> charges) {
        enter(new AcquireRequest(charges, false, CallListener.NONE));
    }

    private RateLimitDecision ask(Charge charge) {
        try {
            return store.decide(charge);
        } catch (RateLimitStoreException ex) {
            notifyRefused(List.of(charge), ex);
            throw ex;
        }
    }

    private StoreOutcome ask(StoreRequest request) {
        try {
            return store.decide(request);
        } catch (RateLimitStoreException ex) {
            notifyRefused(request.charges(), ex);
            throw ex;
        }
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
    private Duration admit(AcquireRequest acquire, StoreOutcome outcome, CallObserver ofCall) {
        List<Charge> charges = acquire.charges();
        notifyCallListener(acquire, outcome);
        if (charges.size() == 1) {
            return admit(charges.get(0), outcome.decision(), ofCall);
        }
        CombinedDecision combined = notifyListener(outcome, ofCall);
        if (combined.isRejected()) {
            throw combined.rejection();
        }
        return combined.delay();
    }

    private Duration admit(Charge charge, RateLimitDecision decision, CallObserver ofCall) {
        notifyListener(charge, decision, ofCall);
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
        RateLimitDecision decision = ask(charge);
        notifyListener(charge, decision, observer);
        return applyDryRun(charge, decision);
    }

    /** Charges all limits or none, and does not wait. */
    public JointDecision decide(List<Charge> charges) {
        checkMayBlock(charges, false);
        return notifyListener(ask(StoreRequest.of(charges)), observer).joint();
    }

    /** Does the same as {@link #decide(List)} without blocking. */
    CompletionStage<JointDecision> decideAsync(List<Charge> charges) {
        CallObserver ofCall = observer.ofCall(null);
        return continuations.apart(store.decideAsync(StoreRequest.of(charges))).handle((outcome, thrown) -> {
            if (thrown != null) {
                notifyIfRefused(charges, Futures.unwrap(thrown));
                throw Futures.wrap(thrown);
            }
            return notifyListener(outcome, ofCall).joint();
        });
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
        RateLimit limit = combined.delayedBy(delay);
        Runnable over = observer.onWait(limit);
        try {
            waiter.await(delay);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(limit.name(), ex);
        } finally {
            over.run();
        }
    }

    /** Admits the call and waits, at most until the caller's stage is complete. */
    private CompletionStage<?> awaitAsync(
            AcquireRequest acquire, StoreOutcome outcome, CallObserver ofCall, CompletableFuture<?> caller) {
        Duration delay = admit(acquire, outcome, ofCall);
        if (delay.isZero()) {
            return CompletableFuture.completedFuture(null);
        }
        Runnable over = ofCall.onWait(new CombinedDecision(acquire.charges(), outcome.decisions()).delayedBy(delay));
        CompletableFuture<Void> wait = Futures.start(() -> waiter.awaitAsync(delay));
        var unused = caller.whenComplete((refund, thrown) -> wait.cancel(false));
        return wait.whenComplete((done, thrown) -> over.run());
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
    private CombinedDecision notifyListener(StoreOutcome outcome, CallObserver ofCall) {
        List<Charge> charges = outcome.charges();
        for (int i = 0; i < charges.size(); i++) {
            RateLimitDecision decision = outcome.decisions().get(i);
            // A limit that allows a call which another rejects is not charged, so its decision is not reported.
            if (!decision.allowed() || outcome.isCharged(i)) {
                notifyListener(charges.get(i), decision, ofCall);
            }
        }
        return new CombinedDecision(charges, outcome.decisions());
    }

    private void notifyListener(Charge charge, RateLimitDecision decision, CallObserver ofCall) {
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

    private void notifyIfRefused(List<Charge> charges, Throwable thrown) {
        if (thrown instanceof RateLimitStoreException failure) {
            notifyRefused(charges, failure);
        }
    }

    /** Notifies the listener of each limit whose policy refuses the call; of all if the store knows no policies. */
    private void notifyRefused(List<Charge> charges, RateLimitStoreException failure) {
        boolean byPolicy = charges.stream().anyMatch(RateLimitGate::refuses);
        for (Charge charge : charges) {
            if (!byPolicy || refuses(charge)) {
                listener.onRefusal(charge, failure);
            }
        }
    }

    private static boolean refuses(Charge charge) {
        RateLimit limit = charge.limit();
        OnStoreFailure policy = limit.onStoreFailure();
        return limit.scope() == Scope.SHARED
                && !limit.dryRun()
                && (policy == OnStoreFailure.REJECT || policy == OnStoreFailure.THROW);
    }
}

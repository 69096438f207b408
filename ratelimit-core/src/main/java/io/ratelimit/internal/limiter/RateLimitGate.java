package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Continuations;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.OnceAMinute;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.Waiter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Passes every call to the store. {@link CallAdmission} applies the decisions. A call that may wait for permits which other calls
 * hold takes its turn in {@link PermitQueueRegistry}.
 */
public final class RateLimitGate {

    private final RateLimitStore store;

    private final CallObserver observer;

    private final CallAdmission admission;

    private final @Nullable RateLimitGate parent;

    /** By the id of the limit. */
    private final Map<String, EffectiveLimit> limits = new ConcurrentHashMap<>();

    /** Those of a parent context with the same store, too: a release in one context wakes a call of the other. */
    private final PermitQueueRegistry queues;

    private final CostLog costLog = new CostLog(new OnceAMinute(System::nanoTime));

    private final Continuations continuations = new Continuations();

    private final BooleanSupplier mustNotBlock;

    private final Duration patience;

    public RateLimitGate(RateLimitStore store, RateLimitListener listener, Waiter waiter) {
        this(store, listener, CallObserver.NONE, waiter, () -> false, Duration.ofMinutes(1), null);
    }

    /**
     * Creates a gate that throws an exception instead of blocking a thread that must not block.
     *
     * @param mustNotBlock whether the current thread must not block
     * @param patience the longest time that a blocking caller waits for a refund, which the store normally ends earlier
     * @param parent the gate of the parent context, if it has the same store: calls of both wait for permits in the same queues;
     *     {@code null}: there is none
     */
    public RateLimitGate(
            RateLimitStore store,
            RateLimitListener listener,
            CallObserver observer,
            Waiter waiter,
            BooleanSupplier mustNotBlock,
            Duration patience,
            @Nullable RateLimitGate parent) {
        this.mustNotBlock = mustNotBlock;
        this.patience = patience;
        this.store = store;
        this.observer = observer;
        this.admission = new CallAdmission(listener, observer, waiter);
        this.parent = parent;
        this.queues = parent == null ? new PermitQueueRegistry(store, waiter, continuations) : parent.queues;
    }

    /**
     * Charges all limits or none, and waits once, for the longest delay. With concurrency limits, the call holds their permits
     * until it {@linkplain Settlement#release releases} them.
     *
     * @return settles the charges, if the request is refundable; settles nothing if there is no charge
     * @throws RateLimitExceededException if a limit rejects the call
     * @throws RateLimitInterruptedException if the thread has to wait and is interrupted
     * @throws IllegalStateException if the thread must not block; no limit is charged
     */
    public Settlement enter(AcquireRequest acquire) {
        if (acquire.charges().isEmpty()) {
            return Settlement.NONE;
        }
        checkMayBlock(acquire.charges(), true);
        StoreOutcome outcome = ask(acquire.toStore());
        try {
            admission.admit(acquire.as(outcome), outcome);
            return settlement(acquire, outcome, UnaryOperator.identity());
        } catch (Throwable ex) {
            // A limit in dry run has permits even if another one rejects the call.
            release(acquire, outcome);
            throw ex;
        }
    }

    private Settlement settlement(
            AcquireRequest acquire, StoreOutcome outcome, UnaryOperator<CompletionStage<Void>> apart) {
        if (!acquire.refundable()) {
            return Settlement.NONE;
        }
        Runnable release = acquire.holdsPermits() ? () -> release(acquire, outcome) : null;
        return Settlement.of(acquire.charges(), outcome, store::charge, apart, release);
    }

    /** Releases the permits that the call holds, also if it does not take place. The store ends each hold once. */
    private void release(AcquireRequest acquire, StoreOutcome outcome) {
        if (acquire.holdsPermits()) {
            List<Charge> held = outcome.charges().stream()
                    .filter(charge -> !charge.limit().hasRate())
                    .toList();
            queues.release(outcome.refund(), held);
            admission.notifyRelease(acquire.listener());
        }
    }

    /**
     * Wakes the first call that waits for permits of a bucket, in which another instance has released some, or that was reset.
     *
     * @param limit the {@linkplain RateLimit#id() id} of the limit
     * @param keyDigest the {@link io.ratelimit.spi.KeyDigest} of the key; of an empty text for the one bucket of all callers
     */
    public void permitsReleased(String limit, String keyDigest) {
        queues.released(limit, keyDigest);
    }

    /**
     * Lets calls that wait for permits of a limit wait by the attributes that it has when they try, such as another capacity.
     *
     * @param owner the catalog of the context that the limit is followed in
     */
    public void follow(EffectiveLimit limit, LimitCatalog owner) {
        limits.put(limit.get().id(), limit);
        limit.addListener(owner, queues::signalAll);
    }

    /** Returns the limit that applies now in the place of one that a call has read. */
    private RateLimit present(RateLimit known) {
        EffectiveLimit limit = limits.get(known.id());
        if (limit != null) {
            return limit.present(known);
        }
        return parent == null ? known : parent.present(known);
    }

    /** Returns how many permits of a concurrency limit calls of this instance hold. */
    public long heldPermits(RateLimit limit) {
        return store.heldPermits(limit);
    }

    /** Returns how many calls of this instance wait for permits of the limit. */
    public long waitingCalls(RateLimit limit) {
        return limit.hasRate() ? admission.waiting().of(limit) : queues.waiting(limit);
    }

    /** Charges one limit and waits, without a settlement and without a call listener: see {@link #enter(AcquireRequest)}. */
    public void enter(Charge charge) {
        if (charge.limit().enabled()) {
            checkMayBlock(charge, true);
            admission.admit(charge, ask(charge).decision());
        }
    }

    /**
     * Charges all limits or none, and waits without blocking: see {@link #enter(AcquireRequest)}. Exceptions complete the stage.
     * If the stage is cancelled, as a {@code CompletableFuture}, it stops waiting, and the permits stay taken, except those of
     * concurrency limits.
     */
    public CompletionStage<Settlement> enterAsync(AcquireRequest acquire) {
        return enterAsync(acquire, null);
    }

    /** Returns whether reactive calls tell what they are part of. */
    public boolean isTracing() {
        return observer.isTracing();
    }

    /**
     * Charges all limits or none for a reactive call: see {@link #enterAsync(AcquireRequest)}.
     *
     * @param parent as for {@link CallObserver#ofCall}
     */
    public CompletionStage<Settlement> enterAsync(AcquireRequest acquire, @Nullable Object parent) {
        return enterAsync(acquire, parent, settlement -> settlement);
    }

    /** Charges all limits or none and waits, for a caller in code that settles nothing. */
    void enter(List<Charge> charges) {
        enter(acquire(charges, false));
    }

    CompletionStage<Void> enterAsync(List<Charge> charges) {
        return enterAsync(acquire(charges, false), null, settlement -> null);
    }

    /**
     * Charges all limits or none and waits, for a caller in code.
     *
     * @param estimates those of the charges that the caller replaces by the actual cost
     */
    RateLimiter.Entry open(List<Charge> charges, List<Charge> estimates) {
        return new CallEntry(this, enter(acquire(charges, !estimates.isEmpty())), estimates);
    }

    CompletionStage<RateLimiter.Entry> openAsync(List<Charge> charges, List<Charge> estimates) {
        return enterAsync(
                acquire(charges, !estimates.isEmpty()), null, settlement -> new CallEntry(this, settlement, estimates));
    }

    private static AcquireRequest acquire(List<Charge> charges, boolean refundable) {
        return new AcquireRequest(enabled(charges), refundable, CallListener.NONE);
    }

    private static List<Charge> enabled(List<Charge> charges) {
        return charges.stream().filter(charge -> charge.limit().enabled()).toList();
    }

    /**
     * Returns a future of what the caller gets when the call has been admitted and its wait is over. If the caller completes it
     * before, the call stops waiting and holds nothing.
     */
    private <T> CompletionStage<T> enterAsync(
            AcquireRequest acquire, @Nullable Object parent, Function<Settlement, @Nullable T> admitted) {
        if (acquire.charges().isEmpty()) {
            return CompletableFuture.completedFuture(admitted.apply(Settlement.NONE));
        }
        CompletableFuture<T> entered = new CompletableFuture<>();
        CallObserver ofCall = observer.ofCall(parent);
        var unused = continuations
                .apart(Futures.start(() -> decideAsync(acquire.toStore(), ofCall, entered)))
                .thenCompose(outcome -> Futures.start(
                                () -> admission.admitAsync(acquire.as(outcome), outcome, ofCall, entered))
                        .handle((over, failure) -> {
                            boolean in = false;
                            try {
                                in = failure == null
                                        && entered.complete(
                                                admitted.apply(settlement(acquire, outcome, continuations::apart)));
                            } finally {
                                if (!in) {
                                    release(acquire, outcome);
                                }
                            }
                            if (failure != null) {
                                throw Futures.wrap(failure);
                            }
                            return in;
                        }))
                .exceptionally(thrown -> {
                    Throwable failure = Futures.unwrap(thrown);
                    try {
                        admission.reportFailure(acquire.charges(), failure);
                    } finally {
                        entered.completeExceptionally(failure);
                    }
                    return false;
                });
        return entered;
    }

    private CompletionStage<StoreOutcome> decideAsync(
            StoreRequest request, CallObserver ofCall, CompletableFuture<?> entered) {
        if (!mayQueue(request)) {
            return store.decide(request).toStage();
        }
        CompletableFuture<StoreOutcome> decided = queues.decideAsync(request, this::present, ofCall);
        var unused = entered.whenComplete((settlement, thrown) -> decided.cancel(false));
        return decided;
    }

    /** Returns whether a call waits for its turn and for permits that other calls hold. */
    private static boolean mayQueue(StoreRequest request) {
        return request.refundable() && request.holdsPermits() && WaitingCall.isFor(request.charges());
    }

    /** Charges permits even beyond the capacity. Does not block the caller. */
    CompletionStage<Void> chargeAsync(Charge charge) {
        checkCost(charge);
        return charge.limit().enabled()
                ? continuations.apart(store.charge(charge))
                : CompletableFuture.completedFuture(null);
    }

    /** Charges permits even beyond the capacity, and waits for the store. */
    void charge(Charge charge) {
        checkCost(charge);
        if (charge.limit().enabled()) {
            checkMayBlock(charge, false);
            BoundedWait.get(store.charge(charge), RateLimitStore.LONGEST);
        }
    }

    /**
     * Settles a charge in the background. A failure does not concern the call: if the cost cannot be computed, that is logged, and the
     * settlement counts as lost.
     *
     * @param cost computes the actual cost; {@code null}: the charge stays
     */
    public void settle(Settlement settlement, Charge charge, Supplier<@Nullable Long> cost) {
        Long known;
        try {
            known = cost.get();
        } catch (Throwable ex) {
            observer.onLostSettlement(charge.limit());
            costLog.unknown(charge, Futures.unwrap(ex));
            return;
        }
        if (known != null) {
            var unused = Futures.start(() -> settlement.settle(Map.of(charge, known)))
                    .exceptionally(thrown -> {
                        notSettled(charge, Futures.unwrap(thrown));
                        return null;
                    });
        }
    }

    /** Logs that a charge could not be settled, and counts it, unless the store has failed, which counts what it loses. */
    public void notSettled(Charge charge, Throwable failure) {
        if (!(failure instanceof RateLimitStoreException)) {
            observer.onLostSettlement(charge.limit());
        }
        costLog.notSettled(charge, failure);
    }

    private static void checkCost(Charge charge) {
        if (charge.permits() > RateLimit.MAX_CAPACITY) {
            throw new IllegalArgumentException("Limit '" + charge.limit().name() + "': permits must be at most "
                    + RateLimit.MAX_CAPACITY + " (was " + charge.permits() + ")");
        }
    }

    /** Blocks until the refund of a blocking caller has succeeded or failed. */
    public void await(CompletionStage<?> refund) {
        BoundedWait.await(refund.toCompletableFuture(), patience);
    }

    /** @param waits whether the call waits for permits that it has reserved */
    private void checkMayBlock(Charge charge, boolean waits) {
        RateLimit limit = charge.limit();
        if (((waits && limit.mayDelay()) || !isNonBlocking(limit)) && mustNotBlock.getAsBoolean()) {
            throw new IllegalStateException("Limit '" + limit.name() + "': a call would have to wait on thread "
                    + Thread.currentThread().getName()
                    + ", which must not block, because many calls share it. Add .subscribeOn(Schedulers.boundedElastic()) to"
                    + " the Mono.fromCallable that makes the call, or .publishOn(Schedulers.boundedElastic()) before the operator"
                    + " that makes it; use thenApplyAsync; or call tryAcquireAsync or acquireAsync, or let a limited method"
                    + " return a Mono, a Flux or a CompletionStage.");
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

    private StoreOutcome ask(StoreRequest request) {
        try {
            return mayQueue(request)
                    ? queues.decide(request, this::present, observer)
                    : store.decide(request).await();
        } catch (RateLimitStoreException ex) {
            admission.reportFailure(request.charges(), ex);
            throw ex;
        }
    }

    private CompletionStage<StoreOutcome> askAsync(StoreRequest request) {
        return continuations.apart(Futures.start(() -> store.decide(request).toStage()));
    }

    /** Charges one limit or not, and does not wait. */
    RateLimitDecision decide(Charge charge) {
        if (!charge.limit().enabled()) {
            return unlimited(List.of(charge));
        }
        checkMayBlock(charge, false);
        RateLimitDecision decision = ask(charge).decision();
        admission.report(charge, decision, observer);
        return applyDryRun(charge, decision);
    }

    /** Charges all limits or none, and does not wait. */
    public JointDecision decide(List<Charge> charges) {
        List<Charge> enabled = enabled(charges);
        if (enabled.isEmpty()) {
            return new JointDecision(unlimited(charges), List.of());
        }
        checkMayBlock(enabled, false);
        return admission.report(ask(StoreRequest.of(enabled)), observer).joint();
    }

    /** Charges all limits or none, and neither waits nor blocks. */
    CompletionStage<JointDecision> decideAsync(List<Charge> charges) {
        List<Charge> enabled = enabled(charges);
        if (enabled.isEmpty()) {
            return CompletableFuture.completedFuture(new JointDecision(unlimited(charges), List.of()));
        }
        CallObserver ofCall = observer.ofCall(null);
        return askAsync(StoreRequest.of(enabled)).handle((outcome, thrown) -> {
            if (thrown != null) {
                admission.reportFailure(enabled, Futures.unwrap(thrown));
                throw Futures.wrap(thrown);
            }
            return admission.report(outcome, ofCall).joint();
        });
    }

    /** Returns the decision about a call whose limits are all disabled. */
    private static RateLimitDecision unlimited(List<Charge> charges) {
        return RateLimitDecision.unlimited(charges.stream()
                .mapToLong(charge -> charge.limit().capacity())
                .min()
                .orElseThrow());
    }

    RateLimitDecision peek(Charge charge) {
        if (!charge.limit().enabled()) {
            return unlimited(List.of(charge));
        }
        checkMayBlock(charge, false);
        return applyDryRun(
                charge, store.decide(StoreRequest.peek(charge)).await().decision());
    }

    CompletionStage<RateLimitDecision> peekAsync(Charge charge) {
        return charge.limit().enabled()
                ? askAsync(StoreRequest.peek(charge)).thenApply(outcome -> applyDryRun(charge, outcome.decision()))
                : CompletableFuture.completedFuture(unlimited(List.of(charge)));
    }

    private static RateLimitDecision applyDryRun(Charge charge, RateLimitDecision decision) {
        return charge.limit().dryRun() ? decision.asAllowed() : decision;
    }

    void reset(Charge bucket) {
        checkMayBlock(bucket, false);
        BoundedWait.get(resetAsync(bucket), RateLimitStore.LONGEST);
    }

    CompletionStage<Void> resetAsync(Charge bucket) {
        return continuations
                .apart(Futures.start(() -> store.change(bucket.limit(), bucket.key(), BucketChange.RESET)))
                .thenAccept(status -> queues.released(bucket));
    }
}

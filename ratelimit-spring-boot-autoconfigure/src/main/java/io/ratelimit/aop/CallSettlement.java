package io.ratelimit.aop;

import io.ratelimit.expression.CallCost;
import io.ratelimit.expression.CallEnd;
import io.ratelimit.expression.Evaluation;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.spi.Charge;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Settles one call when it ends: refunds its charges after a failure with {@code refundOn}, and replaces the estimates of limits
 * with {@code permitsAfter} by the actual costs. Never fails the call: if a cost is unknown, the estimate stays.
 */
final class CallSettlement implements CallEnd {

    private final LimitedCall call;

    private final AcquireRequest acquire;

    private final Settlement settlement;

    /** Of the charges with an actual cost. */
    private final Map<Charge, CallCost> costs;

    private final AtomicBoolean over = new AtomicBoolean();

    /** Whether the result tells the end of the call. */
    private volatile boolean goesOn;

    CallSettlement(LimitedCall call, AcquireRequest acquire, Settlement settlement) {
        this.call = call;
        this.acquire = acquire;
        this.settlement = settlement;
        this.costs = call.charges().costs(acquire.charges());
    }

    /** Ends a call that was admitted and has failed before its method began. */
    static void neverBegun(LimitedCall call, AcquireRequest acquire, Settlement settlement, Throwable failure) {
        settlement.release();
        if (acquire.refundable()) {
            new CallSettlement(call, acquire, settlement).failed(Futures.unwrap(failure));
        }
    }

    /** Releases the permits that the call holds. */
    void release() {
        settlement.release();
    }

    /** Returns whether the results of the call matter. */
    boolean needResults() {
        return !costs.isEmpty();
    }

    @Override
    public void add(@Nullable Object result) {
        costs.values().forEach(cost -> cost.add(result));
    }

    /**
     * Settles a call that has returned a value. If the value goes on after the call, such as a stream in an entity, the call ends
     * with it.
     *
     * @return what the caller gets
     */
    @Nullable
    Object returned(@Nullable Object result) {
        Object followed = result != null && call.charges().isSettled() ? follow(result) : null;
        if (followed == null) {
            add(result);
            completed();
            return result;
        }
        goesOn = true;
        return followed;
    }

    private @Nullable Object follow(Object result) {
        if (result instanceof Callable<?> task
                && call.limited().method().getReturnType().isAssignableFrom(Callable.class)) {
            Callable<?> observed = observed(task);
            // Spring MVC ends it with its request, at the latest.
            boolean unused = isCompletedLater(observed);
            return observed;
        }
        Object followed = LateResults.STREAMED_ENTITIES ? StreamedEntity.follow(result, this) : null;
        return followed == null && isCompletedLater(result) ? result : followed;
    }

    /** Ends the call when the task has run, which frameworks such as Spring for GraphQL do not tell. */
    private Callable<?> observed(Callable<?> task) {
        return () -> {
            try {
                Object value = task.call();
                add(value);
                completed();
                return value;
            } catch (Throwable failure) {
                failed(failure);
                throw failure;
            }
        };
    }

    private boolean isCompletedLater(Object result) {
        try {
            return acquire.listener() instanceof RequestCall during && during.follow(result, this);
        } catch (RuntimeException ex) {
            // The request is over.
            return false;
        }
    }

    /** Returns what ends the call by a signal of its publisher, unless the value that it has emitted goes on. */
    Runnable unlessGoingOn(Runnable end) {
        return () -> {
            if (!goesOn) {
                end.run();
            }
        };
    }

    @Override
    public void completed() {
        completed(null);
    }

    private void completed(@Nullable Throwable failure) {
        end(costs, cost -> cost.completed(evaluation(cost, failure)));
    }

    @Override
    public void failed(Throwable failure) {
        if (!over.get()) {
            var unused = refund(failure);
        }
    }

    @Override
    public void written(Object result, @Nullable Throwable failure) {
        if (over.get()) {
            return;
        }
        add(result);
        if (failure == null
                || call.charges().refundable(acquire.charges(), failure).isEmpty()) {
            completed(failure);
        } else {
            failed(failure);
        }
    }

    /**
     * Settles a call that has failed. A refund by {@code refundOn} wins over the actual cost.
     *
     * @return completes when the charges are refunded; never fails: a failed refund is suppressed by the failure
     */
    CompletionStage<Void> refund(Throwable failure) {
        List<Charge> refundable = call.charges().refundable(acquire.charges(), failure);
        Map<Charge, CallCost> others = new HashMap<>(costs);
        others.keySet().removeAll(refundable);
        end(others, cost -> cost.failed(evaluation(cost, failure)));
        if (refundable.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        tellOfRefund(refundable);
        return Futures.start(() -> settlement.refund(refundable)).exceptionally(thrown -> {
            Throwable also = Futures.unwrap(thrown);
            refundable.forEach(charge -> call.gate().notSettled(charge, also));
            failure.addSuppressed(also);
            return null;
        });
    }

    private void tellOfRefund(List<Charge> refundable) {
        try {
            acquire.listener().onRefund(refundable);
        } catch (RuntimeException ex) {
            // The request is over.
        }
    }

    /** Settles a call that was cancelled, at what it has used so far if that is known. */
    @Override
    public void cancelled() {
        end(costs, CallCost::cancelled);
    }

    private void end(Map<Charge, CallCost> settled, Function<CallCost, @Nullable Long> cost) {
        if (over.compareAndSet(false, true)) {
            settled.forEach((charge, ofCall) -> call.gate().settle(settlement, charge, () -> cost.apply(ofCall)));
        }
    }

    /** Returns what an expression reads. The request may be over. */
    private Evaluation evaluation(CallCost cost, @Nullable Throwable failure) {
        Evaluation evaluation = call.evaluation(null);
        evaluation.context().setVariable("result", cost.lastResult());
        evaluation.context().setVariable("exception", failure);
        return evaluation;
    }
}

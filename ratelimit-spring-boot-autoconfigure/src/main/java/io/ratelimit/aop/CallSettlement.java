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
final class CallSettlement {

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
            var unused = new CallSettlement(call, acquire, settlement).failed(Futures.unwrap(failure));
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

    /** Notes a result of the call. */
    void add(@Nullable Object result) {
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
        CallEnd end = new ResultEnd();
        if (result instanceof Callable<?> task
                && call.limited().method().getReturnType().isAssignableFrom(Callable.class)) {
            Callable<?> observed = observed(task, end);
            // Spring MVC ends it with its request, at the latest.
            boolean unused = isCompletedLater(observed, end);
            return observed;
        }
        Object followed = StreamedEntity.follow(result, end);
        return followed == null && isCompletedLater(result, end) ? result : followed;
    }

    /** Ends the call when the task has run, which frameworks such as Spring for GraphQL do not tell. */
    private static Callable<?> observed(Callable<?> task, CallEnd end) {
        return () -> {
            Object value;
            try {
                value = task.call();
            } catch (Throwable failure) {
                end.failed(failure);
                throw failure;
            }
            end.add(value);
            end.completed();
            return value;
        };
    }

    private boolean isCompletedLater(Object result, CallEnd end) {
        try {
            return acquire.listener() instanceof RequestCall during && during.follow(result, end);
        } catch (RuntimeException ex) {
            // The request is over.
            return false;
        }
    }

    /** Settles a call whose results have been noted. */
    void completed() {
        if (!goesOn) {
            endCompleted(null);
        }
    }

    private void endCompleted(@Nullable Throwable failure) {
        end(costs, cost -> cost.completed(evaluation(cost, failure)));
    }

    /**
     * Settles a call that has failed. A refund by {@code refundOn} wins over the actual cost.
     *
     * @return completes when the charges are refunded; never fails: a failed refund is suppressed by the failure
     */
    CompletionStage<Void> failed(Throwable failure) {
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
    void cancelled() {
        if (!goesOn) {
            end(costs, CallCost::cancelled);
        }
    }

    private void end(Map<Charge, CallCost> settled, Function<CallCost, @Nullable Long> cost) {
        if (!over.compareAndSet(false, true) || settled.isEmpty()) {
            return;
        }
        Map<Charge, Long> known = new HashMap<>();
        settled.forEach((charge, ofCall) -> {
            try {
                Long actual = cost.apply(ofCall);
                if (actual != null) {
                    known.put(charge, actual);
                }
            } catch (Throwable ex) {
                call.gate().costUnknown(charge, Futures.unwrap(ex));
            }
        });
        if (!known.isEmpty()) {
            call.gate().settle(settlement, known);
        }
    }

    /** Returns what an expression reads. The request may be over. */
    private Evaluation evaluation(CallCost cost, @Nullable Throwable failure) {
        Evaluation evaluation = call.evaluation(null);
        evaluation.context().setVariable("result", cost.lastResult());
        evaluation.context().setVariable("exception", failure);
        return evaluation;
    }

    /** Settles the call when its result is complete. */
    private final class ResultEnd implements CallEnd {

        @Override
        public void add(@Nullable Object result) {
            CallSettlement.this.add(result);
        }

        @Override
        public void completed() {
            endCompleted(null);
        }

        @Override
        public void failed(Throwable failure) {
            if (!over.get()) {
                var unused = CallSettlement.this.failed(failure);
            }
        }

        @Override
        public void cancelled() {
            end(costs, CallCost::cancelled);
        }

        @Override
        public void written(Object result, @Nullable Throwable failure) {
            if (over.get()) {
                return;
            }
            CallSettlement.this.add(result);
            if (failure == null
                    || call.charges().refundable(acquire.charges(), failure).isEmpty()) {
                endCompleted(failure);
            } else {
                failed(failure);
            }
        }
    }
}

package io.ratelimit.aop;

import io.ratelimit.Charge;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.expression.CallCost;
import io.ratelimit.expression.Evaluation;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.limiter.Settlement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/**
 * Settles one call when it ends: refunds its charges after a failure with {@code refundOn}, and replaces the estimates of limits
 * with {@code permitsAfter} by the actual costs. Never fails the call: if a cost is unknown, the estimate stays.
 */
final class CallCosts {

    private final LimitedCall call;

    private final AcquireRequest acquire;

    private final Settlement settlement;

    /** Of the charges with an actual cost. */
    private final Map<Charge, CallCost> costs;

    private final AtomicBoolean over = new AtomicBoolean();

    CallCosts(LimitedCall call, AcquireRequest acquire, Settlement settlement) {
        this.call = call;
        this.acquire = acquire;
        this.settlement = settlement;
        this.costs = call.charges().costs(acquire.charges());
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
        costs.entrySet().removeIf(entry -> {
            try {
                entry.getValue().add(result);
                return false;
            } catch (Throwable ex) {
                call.gate().costUnknown(entry.getKey(), ex);
                return true;
            }
        });
    }

    /** Settles a call that has returned a value. */
    void returned(@Nullable Object result) {
        add(result);
        completed();
    }

    /** Settles a call whose results have been noted. */
    void completed() {
        end(costs, cost -> cost.completed(evaluation(cost, null)));
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
        acquire.listener().onRefund(refundable);
        return Futures.start(() -> settlement.refund(refundable)).exceptionally(also -> {
            failure.addSuppressed(Futures.unwrap(also));
            return null;
        });
    }

    /** Settles a call that was cancelled, at what it has used so far if that is known. */
    void cancelled() {
        end(costs, CallCost::cancelled);
    }

    private void end(Map<Charge, CallCost> settled, Function<CallCost, @Nullable Long> cost) {
        if (settled.isEmpty() || !over.compareAndSet(false, true)) {
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
                call.gate().costUnknown(charge, ex);
            }
        });
        if (!known.isEmpty()) {
            call.gate().settle(settlement, known);
        }
    }

    /** Returns what an expression reads. The request may be over. */
    private Evaluation evaluation(CallCost cost, @Nullable Throwable failure) {
        return new Evaluation() {

            @Override
            public @Nullable Object[] arguments() {
                return call.invocation().getArguments();
            }

            @Override
            public EvaluationContext context() {
                EvaluationContext context =
                        call.limited().context(call.invocation().getThis(), arguments(), null);
                context.setVariable("result", cost.lastResult());
                context.setVariable("exception", failure);
                return context;
            }
        };
    }
}

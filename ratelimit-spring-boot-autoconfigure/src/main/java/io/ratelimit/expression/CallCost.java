package io.ratelimit.expression;

import io.ratelimit.RateLimitExpressionException;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Computes the actual cost of one call from its results. A cost of {@code null} is unknown. The methods that
 * return it throw {@link RateLimitExpressionException} if it is not a whole number from 0 to the largest capacity. Synchronized,
 * because a subscriber may cancel while a result arrives.
 */
public final class CallCost {

    private final ActualCost cost;

    private @Nullable Object last;

    /** Created with the first use, because a failure must not concern the call. */
    private @Nullable Collected collected;

    /** Of the collector, after which it gets no more results. */
    private @Nullable Throwable failure;

    public CallCost(ActualCost cost) {
        this.cost = cost;
    }

    /** Notes a result: the value that the call returns, or one of those that it emits. Never fails: the cost is unknown then. */
    public synchronized void add(@Nullable Object result) {
        last = result;
        if (cost.collector() == null || result == null || failure != null) {
            return;
        }
        try {
            Collected results = results();
            results.collector.accumulator().accept(results.container, result);
        } catch (Throwable ex) {
            failure = ex;
        }
    }

    /** Returns the result that was noted last, for the expression. */
    public synchronized @Nullable Object lastResult() {
        return last;
    }

    /** Returns the cost of a call that has returned or completed. */
    public @Nullable Long completed(Evaluation evaluation) {
        return cost.collector() == null ? cost.expression().cost(evaluation) : collected();
    }

    /** Returns the cost of a call that has failed, as far as it can be told. */
    public @Nullable Long failed(Evaluation evaluation) {
        return cost.collector() == null && cost.readsException()
                ? cost.expression().cost(evaluation)
                : cancelled();
    }

    /** Returns the cost of a call that was cancelled. Before the first result of a collector, what was used cannot be told. */
    public synchronized @Nullable Long cancelled() {
        return collected == null && failure == null ? null : collected();
    }

    private synchronized @Nullable Long collected() {
        if (failure != null) {
            throw new CompletionException(failure);
        }
        Collected results = results();
        return cost.expression().costOf(results.collector.finisher().apply(results.container));
    }

    private Collected results() {
        if (collected == null) {
            Collector<Object, Object, ?> collector =
                    Objects.requireNonNull(cost.collector()).get();
            collected = new Collected(collector, collector.supplier().get());
        }
        return collected;
    }

    /** What a collector has collected. */
    private record Collected(Collector<Object, Object, ?> collector, Object container) {}
}

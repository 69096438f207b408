package io.ratelimit.expression;

import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Computes what calls have actually cost: by an expression of their result, or by a collector of all their results.
 *
 * @param readsException whether the expression is also of use if a call fails
 * @param collector {@code null}: the cost is the value of the expression
 */
public record ActualCost(
        RateLimitExpression expression,
        boolean readsException,
        @Nullable Supplier<Collector<Object, Object, ?>> collector) {

    String text() {
        return expression.text();
    }

    /** Starts to compute the cost of one call. */
    public CallCost start() {
        return collector == null ? new OfExpression() : new OfCollector(collector);
    }

    private final class OfExpression implements CallCost {

        private volatile @Nullable Object last;

        @Override
        public void add(@Nullable Object result) {
            last = result;
        }

        @Override
        public @Nullable Object lastResult() {
            return last;
        }

        @Override
        public @Nullable Long completed(Evaluation evaluation) {
            return expression.cost(evaluation);
        }

        @Override
        public @Nullable Long failed(Evaluation evaluation) {
            return readsException ? expression.cost(evaluation) : null;
        }

        @Override
        public @Nullable Long cancelled() {
            return null;
        }
    }

    /** Synchronized, because a subscriber may cancel while a result arrives. */
    private final class OfCollector implements CallCost {

        private final Supplier<Collector<Object, Object, ?>> bean;

        /** Created with the first use, because a failure must not concern the call. */
        private @Nullable Collected collected;

        /** Of the collector, after which it gets no more results. */
        private @Nullable Throwable failure;

        OfCollector(Supplier<Collector<Object, Object, ?>> bean) {
            this.bean = bean;
        }

        private Collected results() {
            if (collected == null) {
                Collector<Object, Object, ?> collector = bean.get();
                collected = new Collected(collector, collector.supplier().get());
            }
            return collected;
        }

        @Override
        public synchronized void add(@Nullable Object result) {
            if (result == null || failure != null) {
                return;
            }
            try {
                results().add(result);
            } catch (Throwable ex) {
                failure = ex;
            }
        }

        @Override
        public @Nullable Object lastResult() {
            return null;
        }

        private synchronized @Nullable Long collected() {
            if (failure != null) {
                throw new CompletionException(failure);
            }
            return expression.costOf(results().result());
        }

        /** Before the first result, what was used so far cannot be told. */
        private synchronized @Nullable Long collectedSoFar() {
            return collected == null && failure == null ? null : collected();
        }

        @Override
        public @Nullable Long completed(Evaluation evaluation) {
            return collected();
        }

        @Override
        public @Nullable Long failed(Evaluation evaluation) {
            return collectedSoFar();
        }

        @Override
        public @Nullable Long cancelled() {
            return collectedSoFar();
        }
    }

    /** What a collector has collected. */
    private record Collected(Collector<Object, Object, ?> collector, Object container) {

        void add(Object result) {
            collector.accumulator().accept(container, result);
        }

        @Nullable
        Object result() {
            return collector.finisher().apply(container);
        }
    }
}

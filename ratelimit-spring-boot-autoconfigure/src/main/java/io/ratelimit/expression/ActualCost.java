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
        private @Nullable Collector<Object, Object, ?> collector;

        /** Of the results so far. */
        private @Nullable Object container;

        /** Of the collector, after which it gets no more results. */
        private @Nullable Throwable failure;

        OfCollector(Supplier<Collector<Object, Object, ?>> bean) {
            this.bean = bean;
        }

        private Collector<Object, Object, ?> collector() {
            Collector<Object, Object, ?> known = collector;
            if (known == null) {
                known = bean.get();
                container = known.supplier().get();
                collector = known;
            }
            return known;
        }

        @Override
        public synchronized void add(@Nullable Object result) {
            if (result == null || failure != null) {
                return;
            }
            try {
                collector().accumulator().accept(container, result);
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
            return expression.costOf(collector().finisher().apply(container));
        }

        /** Before the first result, what was used so far cannot be told. */
        private synchronized @Nullable Long collectedSoFar() {
            return collector == null && failure == null ? null : collected();
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
}

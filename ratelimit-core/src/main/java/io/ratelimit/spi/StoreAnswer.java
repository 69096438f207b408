package io.ratelimit.spi;

import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What a store answers to a request: a {@link StoreOutcome} that it knows at once, or a way to get it. Nothing has to happen
 * before the caller takes the outcome, once: by {@link #await} on a thread that may block, otherwise by {@link #toStage}.
 */
public interface StoreAnswer {

    /**
     * Waits for the outcome on the calling thread.
     *
     * @throws io.ratelimit.RateLimitStoreException if the store cannot decide
     */
    StoreOutcome await();

    /** Returns the outcome without blocking the caller. Completes with the exception that {@link #await} would throw. */
    CompletionStage<StoreOutcome> toStage();

    /** Returns an answer with another outcome, or another failure. */
    default StoreAnswer handle(Handler handler) {
        return of(
                () -> {
                    StoreOutcome outcome;
                    try {
                        outcome = await();
                    } catch (Throwable ex) {
                        return handler.handle(null, ex);
                    }
                    return handler.handle(outcome, null);
                },
                () -> Futures.start(this::toStage)
                        .handle((outcome, thrown) ->
                                handler.handle(outcome, thrown == null ? null : Futures.unwrap(thrown))));
    }

    /** Returns an answer with another outcome. A failure stays. */
    default StoreAnswer map(UnaryOperator<StoreOutcome> change) {
        return of(
                () -> change.apply(await()), () -> Futures.start(this::toStage).thenApply(change));
    }

    /**
     * Returns the answer of a store that decides without blocking. A caller that blocks waits for it.
     *
     * @param work asks the store
     */
    static StoreAnswer of(Supplier<? extends CompletionStage<StoreOutcome>> work) {
        return of(() -> BoundedWait.get(Futures.start(work), RateLimitStore.LONGEST), work);
    }

    /**
     * Returns the answer of a store that knows both ways.
     *
     * @param blocking decides on the calling thread, which may block
     * @param nonBlocking decides without blocking the calling thread
     */
    static StoreAnswer of(
            Supplier<StoreOutcome> blocking, Supplier<? extends CompletionStage<StoreOutcome>> nonBlocking) {
        return new StoreAnswer() {
            @Override
            public StoreOutcome await() {
                return blocking.get();
            }

            @Override
            public CompletionStage<StoreOutcome> toStage() {
                return nonBlocking.get();
            }
        };
    }

    /** Makes an outcome of what a store has decided, or of its failure. */
    @FunctionalInterface
    interface Handler {

        /**
         * Returns the outcome, or throws.
         *
         * @param outcome {@code null} if there is a failure
         * @param failure {@code null} if there is an outcome
         */
        StoreOutcome handle(@Nullable StoreOutcome outcome, @Nullable Throwable failure);
    }
}

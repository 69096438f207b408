package io.ratelimit.limiter;

import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A call that waits for its turn to be decided, and for permits that other calls hold. */
final class WaitingCall {

    private final StoreRequest request;

    private final Executor executor;

    private final CompletableFuture<StoreOutcome> outcome = new CompletableFuture<>();

    private volatile boolean entered;

    private volatile @Nullable StoreOutcome rejection;

    WaitingCall(StoreRequest request, Executor executor) {
        this.request = request;
        this.executor = executor;
    }

    StoreRequest request() {
        return request;
    }

    CompletableFuture<StoreOutcome> outcome() {
        return outcome;
    }

    boolean isOver() {
        return outcome.isDone();
    }

    /** From now on, the calling thread is another one than that of the call. */
    void entered() {
        entered = true;
    }

    /** Returns the last rejection; {@code null} if the call was not decided yet. */
    @Nullable
    StoreOutcome rejection() {
        return rejection;
    }

    /** Keeps the call waiting. What limits in dry run have taken comes back, because it will be taken again. */
    void reject(StoreOutcome rejected) {
        refund(rejected);
        rejection = rejected;
    }

    /** Ends the wait with a decision or a failure. */
    void finish(@Nullable StoreOutcome decided, @Nullable Throwable thrown) {
        if (decided != null) {
            complete(decided);
        } else {
            Throwable failure = Futures.unwrap(Objects.requireNonNull(thrown));
            continueBy(() -> outcome.completeExceptionally(failure));
        }
    }

    void complete(StoreOutcome decided) {
        continueBy(() -> {
            if (!outcome.complete(decided)) {
                refund(decided);
            }
        });
    }

    private void continueBy(Runnable end) {
        if (entered) {
            execute(end);
        } else {
            end.run();
        }
    }

    private void execute(Runnable end) {
        try {
            executor.execute(end);
        } catch (Throwable ex) {
            // No thread could be created.
            end.run();
        }
    }

    /** Refunds all that a call has taken that goes on to wait, or is over. */
    private static void refund(StoreOutcome idle) {
        var unused = idle.refund().refund(idle.charges());
    }
}

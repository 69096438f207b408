package io.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Calls that one script decides, one after the other. Whoever has no more time leaves with a failure; with the last of
 * them the work is given up.
 */
final class Batch implements Bound {

    private final List<PendingCall<?>> calls;

    private volatile @Nullable CompletableFuture<?> work;

    private volatile @Nullable CompletableFuture<?> bounded;

    Batch(List<PendingCall<?>> calls) {
        this.calls = calls;
    }

    List<PendingCall<?>> calls() {
        return calls;
    }

    @Override
    public <T> CompletableFuture<T> bound(CompletableFuture<T> started) {
        if (started.isDone()) {
            return started;
        }
        CompletableFuture<T> copy = started.copy();
        work = started;
        bounded = copy;
        return copy;
    }

    /** Threads that wait come first: what follows an asynchronous answer may take its time, here. */
    void answer(List<Long> reply) {
        answer(reply, true);
        answer(reply, false);
    }

    private void answer(List<Long> reply, boolean waitedFor) {
        int from = 0;
        for (PendingCall<?> call : calls) {
            if (call.isWaitedFor() == waitedFor) {
                call.answer(reply, from);
            }
            from += ScriptLanguage.numbers(call.call(), call.charges().size());
        }
    }

    void fail(Throwable failure) {
        for (PendingCall<?> call : calls) {
            call.fail(failure);
        }
    }

    /** Whether everybody has been told. */
    boolean isOver() {
        for (PendingCall<?> call : calls) {
            if (!call.outcome().isDone()) {
                return false;
            }
        }
        return true;
    }

    /** When the first of those who wait has to leave; at once, if nobody waits any more. */
    long nanosLeft() {
        long least = Long.MAX_VALUE;
        for (PendingCall<?> call : calls) {
            if (!call.outcome().isDone()) {
                least = Math.min(least, call.deadline().nanosLeft());
            }
        }
        return least == Long.MAX_VALUE ? 0 : least;
    }

    /** Lets those leave who have no more time. */
    void expire() {
        boolean awaited = false;
        for (PendingCall<?> call : calls) {
            if (!call.deadline().isOver()) {
                awaited = true;
            } else if (!call.outcome().isDone()) {
                call.fail(RedisFailures.of(Servers.REDIS, new TimeoutException()));
            }
        }
        if (!awaited) {
            giveUp();
        }
    }

    private void giveUp() {
        CompletableFuture<?> waitingFor = bounded;
        CompletableFuture<?> started = work;
        if (waitingFor != null && started != null) {
            waitingFor.completeExceptionally(new TimeoutException());
            started.cancel(false);
        }
    }
}

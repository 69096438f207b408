package io.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Calls that one script decides, one after the other. The script has a timeout of its own, from when it was sent. */
final class Batch implements TimeLimit, BatchTimeout.Timed {

    private final List<PendingCall<?>> calls = new ArrayList<>();

    private final Consumer<Batch> expired;

    private volatile @Nullable CompletableFuture<?> work;

    private volatile @Nullable CompletableFuture<?> bounded;

    private volatile Deadline deadline;

    private volatile boolean over;

    /**
     * @param deadline by which it has to be sent
     * @param expired told when the script has no more time
     */
    Batch(Deadline deadline, Consumer<Batch> expired) {
        this.deadline = deadline;
        this.expired = expired;
    }

    List<PendingCall<?>> calls() {
        return calls;
    }

    void add(PendingCall<?> call) {
        call.markSent();
        calls.add(call);
    }

    /** @param ofScript by which the answer has to be there */
    void sent(Deadline ofScript) {
        deadline = ofScript;
    }

    Deadline deadline() {
        return deadline;
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

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public long nanosLeft() {
        return deadline.nanosLeft();
    }

    /** Gives the script up. */
    @Override
    public boolean expire() {
        CompletableFuture<?> waitingFor = bounded;
        CompletableFuture<?> started = work;
        try {
            if (waitingFor != null && started != null) {
                waitingFor.completeExceptionally(new TimeoutException());
                started.cancel(false);
            }
        } finally {
            expired.accept(this);
        }
        return false;
    }

    /** Its calls have been told, or have gone elsewhere. */
    void end() {
        over = true;
    }

    /** Threads that wait come first: what follows an asynchronous answer may take its time, here. */
    void answer(List<Long> reply) {
        end();
        answer(reply, true);
        answer(reply, false);
    }

    private void answer(List<Long> reply, boolean waitedFor) {
        int from = 0;
        for (PendingCall<?> call : calls) {
            if (call.isWaitedFor() == waitedFor) {
                call.answer(reply, from);
            }
            from += ScriptCodec.numbers(call.call(), call.charges().size());
        }
    }

    void fail(Throwable failure) {
        end();
        for (PendingCall<?> call : calls) {
            call.fail(failure);
        }
    }
}

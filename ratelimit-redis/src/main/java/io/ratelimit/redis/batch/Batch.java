package io.ratelimit.redis.batch;

import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.TimeLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Collects calls that one script decides one after the other. The script has a timeout of its own, which begins when it is sent. */
public final class Batch implements TimeLimit, DeadlineTimer.Task {

    private final List<PendingCall<?>> calls = new ArrayList<>();

    private final Consumer<Batch> expired;

    private volatile @Nullable CompletableFuture<?> work;

    private volatile @Nullable CompletableFuture<?> bounded;

    private volatile Deadline deadline;

    private volatile boolean over;

    /**
     * @param deadline by which the script must be sent
     * @param expired called when the script's time is over
     */
    Batch(Deadline deadline, Consumer<Batch> expired) {
        this.deadline = deadline;
        this.expired = expired;
    }

    public List<PendingCall<?>> calls() {
        return calls;
    }

    void add(PendingCall<?> call) {
        call.markSent();
        calls.add(call);
    }

    /** @param ofScript by which the reply must arrive */
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
    public boolean isScript() {
        return true;
    }

    @Override
    public long nanosLeft() {
        return deadline.nanosLeft();
    }

    /** Cancels the script. */
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

    /** Marks the batch as over: its calls are completed, or were dispatched elsewhere. */
    void end() {
        over = true;
    }

    /** Completes the calls. Those with a waiting thread come first, because continuations of the others may be slow. */
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
            from += call.call().numbers(call.charges().size());
        }
    }

    void fail(Throwable failure) {
        end();
        for (PendingCall<?> call : calls) {
            call.fail(failure);
        }
    }
}

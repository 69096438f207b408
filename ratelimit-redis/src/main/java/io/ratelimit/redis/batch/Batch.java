package io.ratelimit.redis.batch;

import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.ServerCall;
import io.ratelimit.redis.script.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Collects calls that one script decides one after the other. The script ends once: by its reply, by a failure, or when its time is
 * over, which begins when it is sent.
 */
public final class Batch implements DeadlineTimer.Task {

    private final List<PendingCall<?>> calls = new ArrayList<>();

    private final Consumer<Batch> expired;

    private volatile boolean ended;

    private volatile Deadline deadline;

    private volatile @Nullable ServerCall<List<Long>> script;

    private volatile long sent;

    private volatile boolean releases;

    private List<Long> numbers = List.of();

    /** {@code null}: there is a reply. */
    private @Nullable Throwable failure;

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
        if (call.call() == ScriptCall.RELEASE) {
            releases = true;
        }
    }

    /** Returns whether one of the calls has ended, and releases its permits. */
    boolean releases() {
        return releases;
    }

    /**
     * @param time when the script was sent
     * @param ofScript by which the reply must arrive
     */
    void sent(ServerCall<List<Long>> call, long time, Deadline ofScript) {
        boolean over;
        synchronized (this) {
            sent = time;
            deadline = ofScript;
            script = call;
            over = ended;
        }
        if (over) {
            // The thread that sends was stuck in the driver.
            var unused = call.end().apply(new TimeoutException());
            call.reply().cancel(false);
        }
    }

    /** Returns when the script was sent. */
    long sent() {
        return sent;
    }

    CompletableFuture<List<Long>> reply() {
        return Objects.requireNonNull(script).reply();
    }

    Deadline deadline() {
        return deadline;
    }

    @Override
    public boolean isOver() {
        return ended;
    }

    @Override
    public boolean isScript() {
        return true;
    }

    @Override
    public long nanosLeft() {
        return deadline.nanosLeft();
    }

    /** Fails the calls, and cancels the script. */
    @Override
    public boolean expire() {
        expired.accept(this);
        ServerCall<List<Long>> call = script;
        if (call != null) {
            call.reply().cancel(false);
        }
        return false;
    }

    /** Ends the script with the reply or a failure, and tells the circuit breaker. Returns whether nothing has ended it yet. */
    boolean end(List<Long> reply, @Nullable Throwable thrown) {
        ServerCall<List<Long>> call;
        synchronized (this) {
            if (ended) {
                return false;
            }
            ended = true;
            call = script;
        }
        try {
            failure = call == null ? thrown : call.end().apply(thrown);
            numbers = reply;
        } catch (Throwable ex) {
            failure = ex;
        }
        return true;
    }

    /** Returns why the script has failed; {@code null}: it has not. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Completes the calls. Those with a waiting thread come first, because continuations of the others may be slow. */
    void complete() {
        Throwable thrown = failure;
        if (thrown == null) {
            answer(true);
            answer(false);
        } else {
            calls.forEach(call -> call.fail(thrown));
        }
    }

    private void answer(boolean waitedFor) {
        int from = 0;
        for (PendingCall<?> call : calls) {
            if (call.isWaitedFor() == waitedFor) {
                call.answer(numbers, from);
            }
            from += call.call().numbers(call.charges().size());
        }
    }
}

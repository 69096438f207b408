package io.ratelimit.redis.batch;

import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.door.RoundTrip;
import io.ratelimit.redis.door.ServerCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Coalesces calls whose keys one script reaches, in the order of their arrival. A single call is sent at once; calls that arrive
 * while a script is under way share the next script. It is sent when the reply has arrived, when it is full, or, to a
 * distant server, after an interval.
 */
public final class BatchQueue implements CallDispatcher {

    /** The largest weight of a script, so that other clients of the server do not wait for long. */
    private static final int FULL = 128;

    private static final int MOST_UNDER_WAY = 256;

    /** The number of scripts that may be under way to a nearby server, if they are full. */
    private static final int FEW = 4;

    /** The time between two scripts that are not full: bounds their number a second, however many calls there are. */
    private static final long INTERVAL = Duration.ofNanos(500_000).toNanos();

    private final Queue<PendingCall<?>> waiting;

    private final AtomicInteger waitingCalls = new AtomicInteger();

    /** Sent batches without a reply. The thread that ends a batch removes it and completes its calls. */
    private final Set<Batch> underWay = ConcurrentHashMap.newKeySet();

    /** Held by the thread that sends. Replaced if that thread does not return. */
    private volatile AtomicBoolean turn = new AtomicBoolean();

    private volatile long lastSent;

    /** Whether the queue is to be looked at again after an interval. */
    private final AtomicBoolean timed = new AtomicBoolean();

    private final RoundTrip roundTrip = new RoundTrip();

    private final DeadlineTimer timer;

    private final Function<Batch, ServerCall<List<Long>>> script;

    private final Function<PendingCall<?>, BatchQueue> queues;

    private final CallDispatcher alone;

    /**
     * @param waiting an empty concurrent queue
     * @param script sends a batch
     * @param queues returns the queue of a call, which changes when Redis turns out to be a cluster
     * @param alone dispatches calls that cannot be decided together
     */
    public BatchQueue(
            Queue<PendingCall<?>> waiting,
            DeadlineTimer timer,
            Function<Batch, ServerCall<List<Long>>> script,
            Function<PendingCall<?>, BatchQueue> queues,
            CallDispatcher alone) {
        this.waiting = waiting;
        this.timer = timer;
        this.script = script;
        this.queues = queues;
        this.alone = alone;
    }

    @Override
    public void dispatch(PendingCall<?> call) {
        waitingCalls.incrementAndGet();
        waiting.add(call);
        if (!call.isWaitedFor()) {
            timer.watch(call);
        }
        send();
    }

    /** Sends what is due, unless another thread is sending: that thread checks again afterwards. */
    private void send() {
        List<Batch> answered = null;
        for (AtomicBoolean mine = turn; isDue() && mine.compareAndSet(false, true); mine = turn) {
            Batch sent;
            try {
                sent = isDue() ? sendNext() : null;
            } finally {
                mine.set(false);
            }
            if (sent == null) {
                continue;
            }
            CompletableFuture<List<Long>> reply = sent.reply();
            if (!reply.isDone()) {
                var unused = reply.whenComplete((numbers, thrown) -> ended(sent, numbers, thrown));
            } else if (BoundedWait.result(reply.handle(sent::end))) {
                underWay.remove(sent);
                answered = answered == null ? new ArrayList<>() : answered;
                answered.add(sent);
            }
        }
        if (answered != null) {
            answered.forEach(this::complete);
        }
        sendLater();
    }

    /** Sets a timer for calls that wait for an interval to pass. */
    private void sendLater() {
        if (!isDistant() || waiting.isEmpty() || underWay.size() >= mostUnderWay()) {
            return;
        }
        if (timed.compareAndSet(false, true)) {
            long left = INTERVAL - sinceLastSent();
            // If none is left, another thread is sending.
            if (!timer.runOnSender(this::sendNow, left > 0 ? left : INTERVAL)) {
                timed.set(false);
            }
        }
    }

    private void sendNow() {
        timed.set(false);
        send();
    }

    private boolean isDue() {
        return !waiting.isEmpty() && maySend();
    }

    private boolean maySend() {
        int scripts = underWay.size();
        if (scripts == 0) {
            return true;
        }
        return scripts < mostUnderWay() && (waitingCalls.get() >= FULL || (isDistant() && sinceLastSent() >= INTERVAL));
    }

    private long sinceLastSent() {
        return timer.clock().getAsLong() - lastSent;
    }

    /** Returns whether a call that waits for an interval is decided much earlier than one that waits for a reply. */
    private boolean isDistant() {
        return roundTrip.nanos() >= 2 * INTERVAL;
    }

    private long mostUnderWay() {
        return Math.min(MOST_UNDER_WAY, Math.max(FEW, 2 * roundTrip.nanos() / INTERVAL));
    }

    private @Nullable Batch sendNext() {
        // Not that of the first call, which may be over long ago after a stall of this JVM.
        Batch batch = new Batch(timer.deadline(), overdue -> ended(overdue, List.of(), new TimeoutException()));
        ServerCall<List<Long>> call;
        try {
            underWay.add(batch);
            fill(batch);
            if (batch.calls().isEmpty()) {
                underWay.remove(batch);
                return null;
            }
            call = script.apply(batch);
        } catch (Throwable ex) {
            call = ServerCall.unsent(ex);
        }
        // The time of the script begins now, however long sending took.
        lastSent = timer.clock().getAsLong();
        batch.sent(call, lastSent, timer.deadline());
        if (!call.reply().isDone()) {
            timer.watch(batch);
        }
        return batch;
    }

    private void fill(Batch batch) {
        long needed = timer.longestOf(roundTrip.nanos());
        int weight = 0;
        for (PendingCall<?> next = waiting.peek(); next != null; next = waiting.peek()) {
            if (weight > 0 && weight + next.weight() > FULL) {
                return;
            }
            PendingCall<?> call = waiting.poll();
            if (call != null) {
                waitingCalls.decrementAndGet();
                weight += addOrFail(call, batch, needed);
            }
        }
    }

    /** Completes every call that was taken out of the queue, even if an Error is thrown. */
    private int addOrFail(PendingCall<?> call, Batch batch, long needed) {
        try {
            return add(call, batch, needed);
        } catch (Throwable ex) {
            call.fail(ex);
            throw ex;
        }
    }

    /**
     * Adds a call to the batch, and returns its weight. Passes on a call of another queue, and leaves out a call that is over or
     * cannot be answered in time.
     */
    @SuppressWarnings("ReferenceEquality")
    private int add(PendingCall<?> call, Batch batch, long needed) {
        if (call.isOver()) {
            return 0;
        }
        BatchQueue queue = queues.apply(call);
        if (queue != this) {
            queue.dispatch(call);
            return 0;
        }
        if (!call.hasTimeFor(needed)) {
            call.failUnsent();
            return 0;
        }
        batch.add(call);
        return call.weight();
    }

    /** Sends waiting calls first, then completes those of the script. */
    private void ended(Batch batch, List<Long> numbers, @Nullable Throwable thrown) {
        if (batch.end(numbers, thrown)) {
            underWay.remove(batch);
            if (batch.failure() == null) {
                roundTrip.add(timer.clock().getAsLong() - batch.sent());
            }
            sendAfterReply();
            complete(batch);
        }
    }

    /**
     * Sends what is due. While a release is under way, that is left to another thread: this one of the driver would overtake what
     * others have handed to it and it has not written yet, such as the release before a call.
     */
    private void sendAfterReply() {
        if (!waiting.isEmpty() && isReleaseUnderWay()) {
            timer.runOnSender(this::send);
        } else {
            send();
        }
    }

    private boolean isReleaseUnderWay() {
        for (Batch batch : underWay) {
            if (batch.releases()) {
                return true;
            }
        }
        return false;
    }

    private void complete(Batch batch) {
        Throwable failure = batch.failure();
        if (failure != null && batch.calls().size() > 1 && RedisFailureMapper.isOfOneCall(failure)) {
            // Nothing was charged, and each call alone may succeed.
            batch.calls().forEach(alone::dispatch);
        } else {
            batch.complete();
        }
    }

    /** Resumes sending if the queue is stuck. Called by the watchdog. */
    boolean resumeIfStuck() {
        boolean stuck = isStuck();
        if (stuck) {
            timer.runOnSender(this::resume);
        }
        return stuck;
    }

    /** Returns whether a script is under way, or a call waits, for longer than its timeouts allow. */
    private boolean isStuck() {
        PendingCall<?> first = waiting.peek();
        return (first != null && timer.isLongOver(first.deadline()))
                || underWay.stream().anyMatch(batch -> timer.isLongOver(batch.deadline()));
    }

    private void resume() {
        turn = new AtomicBoolean();
        underWay.stream().filter(batch -> timer.isLongOver(batch.deadline())).forEach(Batch::expire);
        send();
    }
}

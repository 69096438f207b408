package io.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls whose keys one script reaches, in the order of their arrival. A call that is alone is sent at once; calls that arrive
 * while a script is under way go together with the next. To a server nearby one script is under way at a time, to one far
 * away several, at intervals.
 */
final class BatchQueue implements CallDispatcher {

    /** The weight of a script, so that other clients of the server have their turn. */
    private static final int FULL = 128;

    private static final int MOST_UNDER_WAY = 32;

    /** So many scripts are under way to a server far away before there are intervals between them. */
    private static final int FEW = 4;

    /** Intervals of a round trip. */
    private static final int INTERVALS = 8;

    private final Queue<PendingCall<?>> waiting;

    private final AtomicInteger waitingCalls = new AtomicInteger();

    /** Sent and not answered. Whoever removes a batch tells its calls. */
    private final Set<Batch> underWay = ConcurrentHashMap.newKeySet();

    /** Held by the thread that sends. Another takes its place where a thread does not come back. */
    private volatile AtomicBoolean turn = new AtomicBoolean();

    private volatile long lastSent;

    private final RoundTrip roundTrip = new RoundTrip();

    private final BatchTimeout timeout;

    private final Function<Batch, CompletableFuture<List<Long>>> script;

    private final Function<PendingCall<?>, BatchQueue> queues;

    private final CallDispatcher alone;

    /**
     * @param script runs a batch
     * @param queues where a call belongs, which may be another place once it is known that there are several
     * @param alone for calls that cannot be decided together
     */
    BatchQueue(
            BatchTimeout timeout,
            Function<Batch, CompletableFuture<List<Long>>> script,
            Function<PendingCall<?>, BatchQueue> queues,
            CallDispatcher alone) {
        this(new ConcurrentLinkedQueue<>(), timeout, script, queues, alone);
    }

    /** @param waiting an empty queue that many threads may use at once */
    BatchQueue(
            Queue<PendingCall<?>> waiting,
            BatchTimeout timeout,
            Function<Batch, CompletableFuture<List<Long>>> script,
            Function<PendingCall<?>, BatchQueue> queues,
            CallDispatcher alone) {
        this.waiting = waiting;
        this.timeout = timeout;
        this.script = script;
        this.queues = queues;
        this.alone = alone;
    }

    @Override
    public void dispatch(PendingCall<?> call) {
        waitingCalls.incrementAndGet();
        waiting.add(call);
        if (!call.isWaitedFor()) {
            timeout.watch(call);
        }
        send();
    }

    /** Sends what is due. A thread that finds another sending leaves it to that one, which looks again afterwards. */
    private void send() {
        List<Sent> answered = null;
        for (AtomicBoolean mine = turn; isDue() && mine.compareAndSet(false, true); mine = turn) {
            Sent sent;
            try {
                sent = isDue() ? sendNext() : null;
            } finally {
                mine.set(false);
            }
            if (sent == null) {
                continue;
            }
            if (!sent.reply.isDone()) {
                follow(sent);
            } else if (underWay.remove(sent.batch)) {
                answered = answered == null ? new ArrayList<>() : answered;
                answered.add(sent);
            }
        }
        if (answered != null) {
            answered.forEach(this::tell);
        }
    }

    private boolean isDue() {
        return !waiting.isEmpty() && maySend();
    }

    private boolean maySend() {
        int scripts = underWay.size();
        if (scripts == 0 || scripts >= MOST_UNDER_WAY || !roundTrip.isLong()) {
            return scripts == 0;
        }
        return scripts < FEW
                || waitingCalls.get() >= FULL
                || timeout.clock().getAsLong() - lastSent >= roundTrip.nanos() / INTERVALS;
    }

    private @Nullable Sent sendNext() {
        Batch batch = new Batch(timeout.deadline(), this::expired);
        CompletableFuture<List<Long>> reply;
        try {
            underWay.add(batch);
            fill(batch);
            if (batch.calls().isEmpty()) {
                underWay.remove(batch);
                return null;
            }
            reply = script.apply(batch);
        } catch (Throwable ex) {
            reply = CompletableFuture.failedFuture(ex);
        }
        // Its time begins now, however long it took to send it.
        batch.sent(timeout.deadline());
        lastSent = timeout.clock().getAsLong();
        if (!reply.isDone()) {
            timeout.watch(batch);
        }
        return new Sent(batch, reply, lastSent);
    }

    private void fill(Batch batch) {
        long needed = timeout.longestOf(roundTrip.nanos());
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

    /** Nothing that was taken out of the queue is lost. */
    private int addOrFail(PendingCall<?> call, Batch batch, long needed) {
        try {
            return add(call, batch, needed);
        } catch (Throwable ex) {
            call.fail(RedisFailureMapper.of(RedisTopology.REDIS, ex));
            throw ex;
        }
    }

    /**
     * Adds a call to the batch. One that belongs elsewhere is passed on, and one that has left, or could not be answered in
     * time, is left out.
     *
     * @return its weight there
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
            call.failUnasked();
            return 0;
        }
        batch.add(call);
        return call.weight();
    }

    /** Calls that wait to be asked about come before those that wait to be told. */
    private void follow(Sent sent) {
        var unused = sent.reply.whenComplete((numbers, thrown) -> {
            if (underWay.remove(sent.batch)) {
                if (thrown == null) {
                    roundTrip.add(timeout.clock().getAsLong() - sent.nanos);
                }
                send();
                tell(sent);
            }
        });
    }

    /** Whether or not its reply has been told so. */
    private void expired(Batch batch) {
        if (underWay.remove(batch)) {
            send();
            batch.fail(RedisFailureMapper.of(RedisTopology.REDIS, new TimeoutException()));
        }
    }

    private void tell(Sent sent) {
        Batch batch = sent.batch;
        var unused = sent.reply.handle((numbers, thrown) -> {
            if (thrown == null) {
                batch.answer(numbers);
            } else if (batch.calls().size() > 1 && RedisFailureMapper.isOfOneCall(thrown)) {
                // Nothing was charged, and each by itself may do.
                batch.end();
                batch.calls().forEach(alone::dispatch);
            } else {
                batch.fail(RedisFailureMapper.of(RedisTopology.REDIS, thrown));
            }
            return null;
        });
    }

    /** Goes on without what it is stuck in, if it is: a second line, for a watchdog. */
    boolean takeUpIfStuck() {
        boolean stuck = isStuck();
        if (stuck) {
            timeout.runApart(this::takeUp);
        }
        return stuck;
    }

    /** Whether a script is under way for longer than can be, or nobody sends what waits. */
    private boolean isStuck() {
        PendingCall<?> first = waiting.peek();
        return (first != null && timeout.isLongOver(first.deadline()))
                || underWay.stream().anyMatch(batch -> timeout.isLongOver(batch.deadline()));
    }

    private void takeUp() {
        turn = new AtomicBoolean();
        underWay.stream().filter(batch -> timeout.isLongOver(batch.deadline())).forEach(Batch::expire);
        send();
    }

    /** A script that was sent, and when. */
    private record Sent(Batch batch, CompletableFuture<List<Long>> reply, long nanos) {}
}

package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.concurrent.BoundedWait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * A call that waits for its decision, until its deadline. If Redis has not been asked about it by then, it is this JVM that
 * is late, and the call waits until the last moment.
 */
final class PendingCall<T> implements BatchTimeout.Timed {

    private static final long TIME_TO_READ = Duration.ofMillis(10).toNanos();

    private final ScriptCall call;

    private final List<Charge> charges;

    private final long more;

    private final List<byte[]> names;

    private final Deadline deadline;

    private final boolean waitedFor;

    private final Reader<T> reader;

    private final CompletableFuture<T> outcome = new CompletableFuture<>();

    /** Negative: not yet computed. */
    private int slot = -1;

    private @Nullable ServerCircuitBreaker server;

    private volatile boolean sent;

    private volatile boolean late;

    /** Understands one call's part of a reply. */
    @FunctionalInterface
    interface Reader<T> {

        T read(List<Long> reply, int from);
    }

    /**
     * @param more permits beyond those of a call that wants a lease
     * @param waitedFor whether a thread waits for it, which sees to the deadline itself
     * @param reader makes of the script's reply what the caller wants to know
     */
    PendingCall(
            ScriptCall call,
            List<Charge> charges,
            long more,
            List<byte[]> names,
            Deadline deadline,
            boolean waitedFor,
            Reader<T> reader) {
        this.call = call;
        this.charges = charges;
        this.more = more;
        this.names = names;
        this.deadline = deadline;
        this.waitedFor = waitedFor;
        this.reader = reader;
    }

    ScriptCall call() {
        return call;
    }

    List<Charge> charges() {
        return charges;
    }

    /** Returns the keys of the charges' buckets. */
    List<byte[]> names() {
        return names;
    }

    /** Returns how many more permits a lease takes in advance at most. */
    long more() {
        return more;
    }

    /** Returns the hash slot of its keys. */
    int slot() {
        if (slot < 0) {
            slot = ClusterSlotHashUtil.calculateSlot(names.get(0));
        }
        return slot;
    }

    @Nullable
    ServerCircuitBreaker server() {
        return server;
    }

    void setServer(ServerCircuitBreaker server) {
        this.server = server;
    }

    Deadline deadline() {
        return deadline;
    }

    boolean isWaitedFor() {
        return waitedFor;
    }

    CompletableFuture<T> outcome() {
        return outcome;
    }

    int weight() {
        int weight = 0;
        for (Charge charge : charges) {
            weight += ScriptWeight.of(charge);
        }
        return weight;
    }

    @Override
    public boolean isOver() {
        return outcome.isDone();
    }

    @Override
    public long nanosLeft() {
        return late ? deadline.nanosLeftAtLast() : deadline.nanosLeft();
    }

    /**
     * Whether there is time to ask about it.
     *
     * @param nanos what that takes
     */
    boolean hasTimeFor(long nanos) {
        if (!late && deadline.nanosLeft() <= nanos) {
            late = true;
        }
        return nanosLeft() > nanos;
    }

    void markSent() {
        sent = true;
    }

    @Override
    public boolean expire() {
        if (!late && !sent) {
            late = true;
            return true;
        }
        if (sent) {
            fail(RedisFailureMapper.of(RedisTopology.REDIS, new TimeoutException()));
        } else {
            failUnasked();
        }
        return false;
    }

    /** Waits on the calling thread, which depends on no other to come back. */
    T await() {
        do {
            BoundedWait.await(outcome, this::nanosLeft);
            if (!outcome.isDone() && deadline.nanosLeftAtLast() <= 0) {
                // This JVM has stood still. The reply may be there, and no thread has read it yet.
                long end = System.nanoTime() + TIME_TO_READ;
                BoundedWait.await(outcome, () -> end - System.nanoTime());
            }
        } while (!outcome.isDone() && expire());
        return BoundedWait.result(outcome);
    }

    /** Nothing is charged. */
    void failUnasked() {
        fail(new RateLimitStoreException(Reason.STALLED, "Not asked in time", null));
    }

    void answer(List<Long> reply, int from) {
        T answer;
        try {
            answer = reader.read(reply, from);
        } catch (Throwable ex) {
            fail(RedisFailureMapper.of(RedisTopology.REDIS, ex));
            return;
        }
        outcome.complete(answer);
    }

    void fail(Throwable failure) {
        outcome.completeExceptionally(failure);
    }
}

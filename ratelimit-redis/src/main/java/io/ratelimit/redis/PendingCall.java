package io.ratelimit.redis;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Waits for the decision of a call until its deadline. If the call was not sent to Redis by then, this JVM is late, and the call
 * waits until the latest time.
 */
final class PendingCall<T> implements BatchTimeout.Task {

    private static final Duration TIME_TO_READ = Duration.ofMillis(10);

    /** A charge of a log also searches its entries. */
    private static final int LOG_WEIGHT = 4;

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

    /** Decodes one call's part of a reply. */
    @FunctionalInterface
    interface Reader<T> {

        T read(List<Long> reply, int from);
    }

    /**
     * @param more permits that a lease takes in advance; of a call that holds or releases permits, the number of the holder
     * @param waitedFor whether a thread waits for the outcome, and observes the deadline itself
     * @param reader decodes the script's reply
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

    /** Returns the number of the holder whose permits the call takes or releases. */
    long holder() {
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

    /** Returns how long the server needs for the call, in units of a charge that reads and writes a few numbers. */
    int weight() {
        int weight = 0;
        for (Charge charge : charges) {
            weight += charge.limit().numbers().traits().hasEntries() ? LOG_WEIGHT : 1;
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

    /** Returns whether enough time is left for a script that takes the given time. */
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
            failUnsent();
        }
        return false;
    }

    /** Waits on the calling thread, which needs no other thread to return in time. */
    T await() {
        do {
            BoundedWait.await(outcome, this::nanosLeft);
            if (!outcome.isDone() && deadline.nanosLeftAtLast() <= 0) {
                // This JVM was stalled. The reply may have arrived, but no thread has read it yet.
                BoundedWait.await(outcome, TIME_TO_READ);
            }
        } while (!outcome.isDone() && expire());
        return BoundedWait.result(outcome);
    }

    /** Fails the call, for which nothing was charged. */
    void failUnsent() {
        fail(new RateLimitStoreException(Reason.STALLED, "Redis: not sent in time", null));
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

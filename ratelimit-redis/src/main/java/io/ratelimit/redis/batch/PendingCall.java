package io.ratelimit.redis.batch;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.door.ServerCircuitBreaker;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptInput;
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
public final class PendingCall<T> implements ScriptInput, DeadlineTimer.Task {

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
    public interface Reader<T> {

        T read(List<Long> reply, int from);
    }

    /**
     * @param more permits that a lease takes in advance; of a call that holds or releases permits, the number of the holder
     * @param waitedFor whether a thread waits for the outcome, and observes the deadline itself
     * @param reader decodes the script's reply
     */
    public PendingCall(
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

    @Override
    public ScriptCall call() {
        return call;
    }

    @Override
    public List<Charge> charges() {
        return charges;
    }

    @Override
    public List<byte[]> names() {
        return names;
    }

    @Override
    public long more() {
        return more;
    }

    /** Returns the hash slot of its keys. */
    int slot() {
        if (slot < 0) {
            slot = ClusterSlotHashUtil.calculateSlot(names.get(0));
        }
        return slot;
    }

    /**
     * Finds the server that the call's keys are on, once.
     *
     * @throws RuntimeException if the servers are not known
     */
    ServerCircuitBreaker serverOf(GuardedRedis redis) {
        ServerCircuitBreaker known = server;
        if (known == null) {
            known = redis.server(redis.isClustered() ? slot() : 0);
            server = known;
        }
        return known;
    }

    Deadline deadline() {
        return deadline;
    }

    public boolean isWaitedFor() {
        return waitedFor;
    }

    public CompletableFuture<T> outcome() {
        return outcome;
    }

    /** Returns how long the server needs for the call, in units of a charge that reads and writes a few numbers. */
    int weight() {
        int weight = 0;
        for (Charge charge : charges) {
            weight += charge.limit().numbers().traits().has(Trait.HAS_ENTRIES) ? LOG_WEIGHT : 1;
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

    public void markSent() {
        sent = true;
    }

    @Override
    public boolean expire() {
        if (!late && !sent) {
            late = true;
            return true;
        }
        if (sent) {
            fail(new TimeoutException());
        } else {
            failUnsent();
        }
        return false;
    }

    /** Waits on the calling thread, which needs no other thread to return in time. */
    public T await() {
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

    public void answer(List<Long> reply, int from) {
        T answer;
        try {
            answer = reader.read(reply, from);
        } catch (Throwable ex) {
            fail(ex);
            return;
        }
        outcome.complete(answer);
    }

    void fail(Throwable thrown) {
        outcome.completeExceptionally(RedisFailureMapper.of(RedisTopology.REDIS, thrown));
    }
}

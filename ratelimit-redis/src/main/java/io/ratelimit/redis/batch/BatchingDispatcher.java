package io.ratelimit.redis.batch;

import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.ScriptCodec;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Sends calls that arrive together in one script: all calls, or on a cluster those of a slot. */
public final class BatchingDispatcher implements CallDispatcher {

    private final GuardedRedis redis;

    private final DirectDispatcher alone;

    private final DeadlineTimer timeout;

    private final BatchQueue all;

    /** The queues of a cluster's slots, as far as there were calls. */
    private final Map<Integer, BatchQueue> slots = new ConcurrentHashMap<>();

    public BatchingDispatcher(GuardedRedis redis, ScriptCodec codec) {
        this.redis = redis;
        this.alone = new DirectDispatcher(redis, codec);
        this.timeout = redis.timer();
        this.all = queue();
        Watchdog.shared().watch(this, BatchingDispatcher::resume);
    }

    /** Resumes the queues that are stuck. */
    private @Nullable String resume() {
        boolean stuck = timeout.resumeIfStuck();
        stuck |= all.resumeIfStuck();
        for (BatchQueue queue : slots.values()) {
            stuck |= queue.resumeIfStuck();
        }
        return stuck ? "Calls to Redis were stuck in a queue; the queue was resumed" : null;
    }

    @Override
    public void dispatch(PendingCall<?> call) {
        try {
            // No call waits in a queue while the circuit breaker of its server is open.
            (call.serverOf(redis).isOpen() ? alone : queue(call)).dispatch(call);
        } catch (RuntimeException ex) {
            call.fail(ex);
        }
    }

    private BatchQueue queue(PendingCall<?> call) {
        return redis.isClustered() ? slots.computeIfAbsent(call.slot(), slot -> queue()) : all;
    }

    private BatchQueue queue() {
        return new BatchQueue(new ConcurrentLinkedQueue<>(), timeout, this::run, this::queue, alone);
    }

    private CompletableFuture<List<Long>> run(Batch batch) {
        return alone.run(batch.calls(), batch);
    }
}

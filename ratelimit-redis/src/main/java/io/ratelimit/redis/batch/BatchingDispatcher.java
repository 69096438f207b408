package io.ratelimit.redis.batch;

import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.ScriptCodec;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/** Sends calls that arrive together in one script: all calls, or on a cluster those of a slot. */
public final class BatchingDispatcher implements CallDispatcher {

    private final GuardedRedis redis;

    private final DirectDispatcher alone;

    private final DeadlineTimer timer;

    private final BatchQueue all;

    /** The queues of a cluster's slots, as far as there were calls. */
    private final AtomicReferenceArray<@Nullable BatchQueue> slots =
            new AtomicReferenceArray<>(ClusterSlotHashUtil.SLOT_COUNT);

    public BatchingDispatcher(GuardedRedis redis, ScriptCodec codec) {
        this.redis = redis;
        this.alone = new DirectDispatcher(redis, codec);
        this.timer = redis.timer();
        this.all = queue();
        Watchdog.shared().watch(this, BatchingDispatcher::resume);
    }

    /** Resumes the queues that are stuck. */
    private @Nullable String resume() {
        boolean stuck = timer.resumeIfStuck();
        stuck |= all.resumeIfStuck();
        for (int slot = 0; slot < slots.length(); slot++) {
            BatchQueue queue = slots.get(slot);
            stuck |= queue != null && queue.resumeIfStuck();
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
        if (!redis.isClustered()) {
            return all;
        }
        BatchQueue known = slots.get(call.slot());
        return known != null ? known : slots.updateAndGet(call.slot(), queue -> queue != null ? queue : queue());
    }

    private BatchQueue queue() {
        return new BatchQueue(
                new ConcurrentLinkedQueue<>(), timer, batch -> alone.send(batch.calls()), this::queue, alone);
    }
}

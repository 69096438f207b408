package io.ratelimit.redis.batch;

import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.script.ScriptCodec;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/** Sends calls that arrive together in one script: all calls, or on a cluster those of a slot. */
public final class BatchingDispatcher implements CallDispatcher {

    private final GuardedRedis redis;

    private final DirectDispatcher alone;

    private final DeadlineTimer timeout;

    private final BatchQueue all;

    /** The queues of a cluster's slots. The first call to a cluster creates the array, because it is large. */
    private volatile @Nullable AtomicReferenceArray<@Nullable BatchQueue> slots;

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
        AtomicReferenceArray<@Nullable BatchQueue> known = slots;
        for (int slot = 0; known != null && slot < known.length(); slot++) {
            BatchQueue queue = known.get(slot);
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
            call.fail(RedisFailureMapper.of(RedisTopology.REDIS, ex));
        }
    }

    private BatchQueue queue(PendingCall<?> call) {
        return redis.isClustered() ? queue(call.slot()) : all;
    }

    private BatchQueue queue(int slot) {
        AtomicReferenceArray<@Nullable BatchQueue> ofSlots = slots;
        BatchQueue known = ofSlots == null ? null : ofSlots.get(slot);
        return known == null ? create(slot) : known;
    }

    private synchronized BatchQueue create(int slot) {
        AtomicReferenceArray<@Nullable BatchQueue> ofSlots = slots;
        if (ofSlots == null) {
            ofSlots = new AtomicReferenceArray<>(ClusterSlotHashUtil.SLOT_COUNT);
            slots = ofSlots;
        }
        return ofSlots.updateAndGet(slot, known -> known == null ? queue() : known);
    }

    private BatchQueue queue() {
        return new BatchQueue(new ConcurrentLinkedQueue<>(), timeout, this::run, this::queue, alone);
    }

    private CompletableFuture<List<Long>> run(Batch batch) {
        return alone.run(batch.calls(), batch);
    }
}

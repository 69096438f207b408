package io.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/** Decides calls together that arrive together: all of them, or on a cluster those of a slot. */
final class Together implements Decider {

    private final GuardedRedis redis;

    private final ScriptLanguage language;

    private final Decider alone;

    private final Lane all = lane();

    private final AtomicReferenceArray<@Nullable Lane> slots =
            new AtomicReferenceArray<>(ClusterSlotHashUtil.SLOT_COUNT);

    Together(GuardedRedis redis, ScriptLanguage language) {
        this.redis = redis;
        this.language = language;
        this.alone = new OneByOne(redis, language);
    }

    @Override
    public void decide(PendingCall<?> call) {
        // Of a server that is not asked there is nothing to wait for, in no line.
        (redis.asks(call.names().get(0)) ? lane(call) : alone).decide(call);
    }

    private Lane lane(PendingCall<?> call) {
        return redis.isClustered()
                ? lane(ClusterSlotHashUtil.calculateSlot(call.names().get(0)))
                : all;
    }

    private Lane lane(int slot) {
        Lane known = slots.get(slot);
        if (known == null) {
            slots.compareAndSet(slot, null, lane());
            return lane(slot);
        }
        return known;
    }

    private Lane lane() {
        return new Lane(this::run, this::lane, call -> alone.decide(call));
    }

    private CompletableFuture<List<Long>> run(Batch batch) {
        ScriptInput input = language.input(batch.calls());
        return redis.execute(input.keys(), input.arguments().toArray(byte[][]::new), batch);
    }
}

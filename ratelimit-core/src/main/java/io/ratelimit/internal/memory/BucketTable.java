package io.ratelimit.internal.memory;

import io.ratelimit.RateLimit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Finds buckets by their keys, and holds a bounded number of them. When it is full, a newcomer takes the place of the
 * bucket that is used least among a few picked at random, so that limited callers stay limited.
 *
 * <p>A bucket leaves in three steps: it is marked as forgotten, so that no call charges it any more; it is taken out of
 * the map; it is taken out of its slot. The thread that does the last owns the slot.
 */
final class BucketTable {

    /** With half of the buckets limited, one in 2^16 newcomers finds no other bucket to evict. */
    private static final int SAMPLE = 16;

    private static final int ATTEMPTS = 4;

    /** By the ids of the limits, then by the {@linkplain BucketKey keys}. */
    private final ConcurrentMap<String, ConcurrentMap<String, Bucket>> maps = new ConcurrentHashMap<>();

    /** As above, of limits whose permits calls hold: there are no more buckets than calls, and none is evicted. */
    private final ConcurrentMap<String, ConcurrentMap<String, Bucket>> holding = new ConcurrentHashMap<>();

    private final BucketSlots slots;

    private final EvictionPriority.Measure measure;

    private final Runnable onEviction;

    private final IntUnaryOperator random;

    /**
     * @param onEviction called after a bucket had to go that was not full again
     * @param random a number below the one it is given, for many threads at once
     */
    BucketTable(long max, EvictionPriority.Measure measure, Runnable onEviction, IntUnaryOperator random) {
        this.slots = new BucketSlots(max);
        this.measure = measure;
        this.onEviction = onEviction;
        this.random = random;
    }

    /** How many buckets of limits with a rate there are, never more than the bound. */
    int size() {
        return maps.values().stream().mapToInt(Map::size).sum();
    }

    /** Those of the limits with the limit's id. */
    ConcurrentMap<String, Bucket> of(RateLimit limit) {
        return (limit.hasRate() ? maps : holding).computeIfAbsent(limit.id(), id -> new ConcurrentHashMap<>());
    }

    @Nullable
    Bucket get(CompiledLimit limit, String key) {
        Bucket bucket = limit.buckets().get(key);
        if (bucket != null && bucket.isForgotten()) {
            // Helps the thread that is about to do it, instead of waiting.
            limit.buckets().remove(key, bucket);
            return null;
        }
        return bucket;
    }

    /**
     * Adds a bucket, unless there is one of its key. Where calls in progress hold every bucket that could make room, it is
     * not added but good for this one call: no call waits for a place.
     *
     * @return false if there is another one
     */
    boolean add(Bucket bucket, long clock) {
        if (bucket.holdsPermits()) {
            return bucket.limit().buckets().putIfAbsent(bucket.key(), bucket) == null;
        }
        int slot = claim(clock);
        if (slot == BucketSlots.NONE) {
            return !bucket.limit().buckets().containsKey(bucket.key());
        }
        bucket.slot(slot);
        if (bucket.limit().buckets().putIfAbsent(bucket.key(), bucket) != null) {
            slots.free(slot);
            return false;
        }
        slots.put(slot, bucket);
        if (bucket.isForgotten()) {
            // By a reset, just now, that did not find it in its slot yet.
            vacate(bucket);
        }
        return true;
    }

    void remove(CompiledLimit limit, String key) {
        Bucket bucket = limit.buckets().get(key);
        if (bucket != null && bucket.forget()) {
            leave(bucket);
        }
    }

    /** Removes a bucket that is full or forgotten, unless a call holds it. */
    void removeUnused(Bucket bucket) {
        Bucket.Snapshot seen = bucket.snapshot();
        if (bucket.isForgotten() || (seen != null && seen.state() == null && seen.forget())) {
            leave(bucket);
        }
    }

    private void leave(Bucket bucket) {
        bucket.limit().buckets().remove(bucket.key(), bucket);
        vacate(bucket);
    }

    private void vacate(Bucket bucket) {
        int slot = bucket.slot();
        if (slot != BucketSlots.NONE && slots.take(slot, bucket)) {
            slots.free(slot);
        }
    }

    private int claim(long clock) {
        int slot = slots.claim();
        for (int i = 0; slot == BucketSlots.NONE && i < ATTEMPTS; i++) {
            slot = evict(clock);
            if (slot == BucketSlots.NONE) {
                slot = slots.claim();
            }
        }
        return slot;
    }

    /** The slot of the bucket that had to go, or none if another thread has it or used the bucket meanwhile. */
    private int evict(long clock) {
        Bucket.Snapshot least = leastUsed(clock);
        if (least == null || !least.forget()) {
            return BucketSlots.NONE;
        }
        Bucket bucket = least.bucket();
        bucket.limit().buckets().remove(bucket.key(), bucket);
        if (!measure.of(bucket.limit(), least.state(), clock).isNone()) {
            onEviction.run();
        }
        return slots.take(bucket.slot(), bucket) ? bucket.slot() : BucketSlots.NONE;
    }

    private Bucket.@Nullable Snapshot leastUsed(long clock) {
        int max = slots.max();
        int start = random.applyAsInt(max);
        Bucket.Snapshot least = null;
        EvictionPriority leastUse = null;
        for (int i = 0; i < Math.min(SAMPLE, max); i++) {
            Bucket bucket = slots.get(max <= SAMPLE ? (start + i) % max : random.applyAsInt(max));
            Bucket.Snapshot snapshot = bucket == null ? null : bucket.snapshot();
            if (snapshot == null) {
                continue;
            }
            EvictionPriority use = measure.of(snapshot.bucket().limit(), snapshot.state(), clock);
            if (use.isNone()) {
                return snapshot;
            }
            if (leastUse == null || use.compareTo(leastUse) < 0) {
                least = snapshot;
                leastUse = use;
            }
        }
        return least;
    }
}

package io.ratelimit.memory;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Finds buckets by their keys, and holds a bounded number of them. When it is full, a newcomer takes the place of the
 * bucket that is used least among a few picked at random, so that callers who are limited stay so.
 *
 * <p>A bucket leaves in three steps: it is marked as forgotten, so that nobody charges it any more; it is taken out of
 * the map; it is taken out of its slot. Whoever does the last owns the slot.
 */
final class BucketTable {

    /** With half of the buckets limited, one in 2^16 newcomers finds nobody else to send away. */
    private static final int SAMPLE = 16;

    private static final int ATTEMPTS = 4;

    private final ConcurrentMap<BucketKey, Bucket> map = new ConcurrentHashMap<>();

    private final BucketSlots slots;

    private final BucketUse.Measure measure;

    BucketTable(long max, BucketUse.Measure measure) {
        this.slots = new BucketSlots(max);
        this.measure = measure;
    }

    /** How many buckets there are, never more than the bound. */
    int size() {
        return map.size();
    }

    @Nullable
    Bucket get(BucketKey key) {
        Bucket bucket = map.get(key);
        if (bucket != null && bucket.isForgotten()) {
            // Helps whoever is about to do it, instead of waiting.
            map.remove(key, bucket);
            return null;
        }
        return bucket;
    }

    /**
     * Adds a bucket, unless there is one of its key. Where calls in progress hold every bucket that could make room, it is
     * not added but good for this one call: nobody waits for a place.
     *
     * @return false if there is another one
     */
    boolean add(Bucket bucket, long clock) {
        int slot = claim(clock);
        if (slot == BucketSlots.NONE) {
            return !map.containsKey(bucket.key());
        }
        bucket.slot(slot);
        if (map.putIfAbsent(bucket.key(), bucket) != null) {
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

    void remove(BucketKey key) {
        Bucket bucket = map.get(key);
        if (bucket != null && bucket.forget()) {
            leave(bucket);
        }
    }

    void removeUnused(Bucket bucket) {
        if (bucket.forget(null)) {
            leave(bucket);
        }
    }

    private void leave(Bucket bucket) {
        map.remove(bucket.key(), bucket);
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
        Candidate least = leastUsed(clock);
        if (least == null || !least.bucket().forget(least.state())) {
            return BucketSlots.NONE;
        }
        Bucket bucket = least.bucket();
        map.remove(bucket.key(), bucket);
        return slots.take(bucket.slot(), bucket) ? bucket.slot() : BucketSlots.NONE;
    }

    private @Nullable Candidate leastUsed(long clock) {
        int max = slots.max();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int start = random.nextInt(max);
        Candidate least = null;
        for (int i = 0; i < Math.min(SAMPLE, max); i++) {
            Bucket bucket = slots.get(max <= SAMPLE ? (start + i) % max : random.nextInt(max));
            Candidate next = bucket == null ? null : candidate(bucket, clock);
            if (next != null && (least == null || next.use().compareTo(least.use()) < 0)) {
                least = next;
            }
            if (least != null && least.use().isNone()) {
                return least;
            }
        }
        return least;
    }

    private @Nullable Candidate candidate(Bucket bucket, long clock) {
        BucketState state = bucket.look();
        return Bucket.isSettled(state) ? new Candidate(bucket, state, measure.of(bucket.limit(), state, clock)) : null;
    }

    /** A bucket that may have to go, and the state in which it was seen: if used meanwhile, it stays. */
    private record Candidate(Bucket bucket, @Nullable BucketState state, BucketUse use) {}
}

package io.ratelimit.internal.memory;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of places for buckets, which can be picked by number. Each belongs to one bucket or newcomer at a time,
 * or is free. Room is taken in chunks, when it is first needed.
 */
final class BucketSlots {

    /** In the place of a slot's number. */
    static final int NONE = -1;

    /** As many references as fit into 1 GB; more buckets than anybody has memory for. */
    private static final int MOST = 1 << 28;

    private static final int CHUNK = 1 << 12;

    private final int max;

    private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable Bucket>> chunks;

    private final AtomicInteger opened = new AtomicInteger();

    private final Queue<Integer> vacated = new ConcurrentLinkedQueue<>();

    BucketSlots(long max) {
        this.max = (int) Math.min(max, MOST);
        this.chunks = new AtomicReferenceArray<>((this.max - 1) / CHUNK + 1);
    }

    int max() {
        return max;
    }

    /** A slot that was free and now is the caller's, or {@link #NONE}. */
    int claim() {
        Integer again = vacated.poll();
        if (again != null) {
            return again;
        }
        int next = opened.getAndUpdate(count -> Math.min(count + 1, max));
        return next < max ? next : NONE;
    }

    /** The other way: a slot that was the caller's is free. */
    void free(int slot) {
        vacated.add(slot);
    }

    /** Gives the caller's slot to a bucket. */
    void put(int slot, Bucket bucket) {
        chunk(slot).set(slot % CHUNK, bucket);
    }

    /** Takes a bucket out of its slot. The slot is the caller's then, unless somebody else was faster. */
    boolean take(int slot, Bucket bucket) {
        return chunk(slot).compareAndSet(slot % CHUNK, bucket, null);
    }

    @Nullable
    Bucket get(int slot) {
        AtomicReferenceArray<@Nullable Bucket> chunk = chunks.get(slot / CHUNK);
        return chunk == null ? null : chunk.get(slot % CHUNK);
    }

    private AtomicReferenceArray<@Nullable Bucket> chunk(int slot) {
        int number = slot / CHUNK;
        AtomicReferenceArray<@Nullable Bucket> known = chunks.get(number);
        if (known != null) {
            return known;
        }
        AtomicReferenceArray<@Nullable Bucket> fresh =
                new AtomicReferenceArray<>(Math.min(CHUNK, max - number * CHUNK));
        AtomicReferenceArray<@Nullable Bucket> other = chunks.compareAndExchange(number, null, fresh);
        return other == null ? fresh : other;
    }
}

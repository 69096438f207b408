package io.ratelimit.memory;

import io.ratelimit.RateLimit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One bucket's state, changed without locks where a call has one limit. A call with several holds their buckets for the
 * moment of its decision. A bucket that is forgotten is as if never used, and takes no more charges.
 */
@SuppressWarnings("ReferenceEquality") // The very state that was read, not one like it.
final class Bucket {

    /** Stands in the place of the state while a call holds the bucket. */
    private static final BucketState HELD = marker();

    /** Stands in the place of the state for good. */
    private static final BucketState FORGOTTEN = marker();

    private final BucketKey key;

    private final RateLimit limit;

    private final AtomicReference<@Nullable BucketState> state;

    /** What the call that holds the bucket has found. */
    private @Nullable BucketState found;

    /** Whether the call that holds the bucket has made it. */
    private boolean fresh;

    /** Written before any other thread can see the bucket. */
    private int slot = BucketSlots.NONE;

    Bucket(BucketKey key, RateLimit limit, @Nullable BucketState state) {
        this.key = key;
        this.limit = limit;
        this.state = new AtomicReference<@Nullable BucketState>(state);
    }

    /** A bucket that was never used, held by the caller. */
    static Bucket held(BucketKey key, RateLimit limit) {
        Bucket bucket = new Bucket(key, limit, HELD);
        bucket.fresh = true;
        return bucket;
    }

    BucketKey key() {
        return key;
    }

    RateLimit limit() {
        return limit;
    }

    /** Where it is in the table. */
    int slot() {
        return slot;
    }

    void slot(int number) {
        slot = number;
    }

    /** The state, once nobody holds the bucket. */
    @Nullable
    BucketState get() {
        BucketState current = settled();
        return current == FORGOTTEN ? null : current;
    }

    boolean replace(@Nullable BucketState expected, @Nullable BucketState next) {
        return expected == next || state.compareAndSet(expected, next);
    }

    /** Holds the bucket until {@link #release}, unless it is forgotten. */
    boolean hold() {
        while (true) {
            BucketState current = settled();
            if (current == FORGOTTEN) {
                return false;
            }
            if (state.compareAndSet(current, HELD)) {
                found = current;
                fresh = false;
                return true;
            }
        }
    }

    /** The state in which the caller, who holds the bucket, has found it. */
    @Nullable
    BucketState found() {
        return found;
    }

    /** Whether the caller, who holds the bucket, has made it: nobody can have taken from it before. */
    boolean isFresh() {
        return fresh;
    }

    void release(@Nullable BucketState next) {
        state.set(next);
    }

    boolean isForgotten() {
        return state.get() == FORGOTTEN;
    }

    /** Forgets the bucket, once nobody holds it; false if that was done before. */
    boolean forget() {
        while (true) {
            BucketState current = settled();
            if (current == FORGOTTEN) {
                return false;
            }
            if (state.compareAndSet(current, FORGOTTEN)) {
                return true;
            }
        }
    }

    /** Forgets the bucket, unless its state is another by now. */
    boolean forget(@Nullable BucketState expected) {
        return state.compareAndSet(expected, FORGOTTEN);
    }

    /** Changes the state, once nobody holds the bucket. One that is as if never used stays so. */
    void change(Function<BucketState, @Nullable BucketState> change) {
        while (true) {
            BucketState current = settled();
            if (current == null || current == FORGOTTEN || replace(current, change.apply(current))) {
                return;
            }
        }
    }

    /** Whatever stands in the place of the state, without waiting. */
    @Nullable
    BucketState look() {
        return state.get();
    }

    /** Whether what was seen is a state of a bucket that is neither held nor forgotten. */
    static boolean isSettled(@Nullable BucketState seen) {
        return seen != HELD && seen != FORGOTTEN;
    }

    private @Nullable BucketState settled() {
        int spins = 0;
        while (true) {
            BucketState current = state.get();
            if (current != HELD) {
                return current;
            }
            pause(++spins);
        }
    }

    private static BucketState marker() {
        return BucketState.of(new FixedWindowRule(1, 1), null, null, 0);
    }

    private static void pause(int spins) {
        if (spins % 64 == 0) {
            LockSupport.parkNanos(1_000);
        } else {
            Thread.onSpinWait();
        }
    }
}

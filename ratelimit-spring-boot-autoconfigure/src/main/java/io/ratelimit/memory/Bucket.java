package io.ratelimit.memory;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One bucket's state, changed without locks where a call has one limit. A call with several holds their buckets for the
 * moment of its decision.
 */
@SuppressWarnings("ReferenceEquality") // The very state that was read, not one like it.
final class Bucket {

    private static final AtomicLong NUMBERS = new AtomicLong();

    /** Stands in the place of the state while a call holds the bucket. */
    private static final BucketState HELD = new BucketState(Section.unused(new FixedWindowRule(1, 1), 0), null, 0);

    /** The order in which buckets are held, the same for all calls, so that none waits for another in a circle. */
    private final long number = NUMBERS.incrementAndGet();

    private final AtomicReference<@Nullable BucketState> state = new AtomicReference<>();

    long number() {
        return number;
    }

    /** The state, once nobody holds the bucket. */
    @Nullable
    BucketState get() {
        int spins = 0;
        while (true) {
            BucketState current = state.get();
            if (current != HELD) {
                return current;
            }
            pause(++spins);
        }
    }

    boolean replace(@Nullable BucketState expected, @Nullable BucketState next) {
        return expected == next || state.compareAndSet(expected, next);
    }

    /** Holds the bucket until {@link #release}, and returns its state. */
    @Nullable
    BucketState hold() {
        while (true) {
            BucketState current = get();
            if (state.compareAndSet(current, HELD)) {
                return current;
            }
        }
    }

    void release(@Nullable BucketState next) {
        state.set(next);
    }

    private static void pause(int spins) {
        if (spins % 64 == 0) {
            LockSupport.parkNanos(1_000);
        } else {
            Thread.onSpinWait();
        }
    }
}

package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitDecision;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The bucket of one key. Its state is read and changed by the call that holds it, which takes nanoseconds, so a call that
 * finds it held tries again. A call with several limits holds their buckets together. A forgotten bucket has left the table
 * and can no longer be held.
 *
 * <p>Nearly always the state is what one rule has counted. It then stands here in numbers, so that a call leaves nothing
 * to be collected. Any other state is an object.
 *
 * <p>A bucket whose permits are held by calls is forgotten as soon as no permit is held.
 */
final class Bucket {

    private static final AtomicIntegerFieldUpdater<Bucket> VERSION =
            AtomicIntegerFieldUpdater.newUpdater(Bucket.class, "version");

    private static final int HELD = 1;

    private static final int FORGOTTEN = 2;

    /** Above these two bits the version counts how often the bucket was held. */
    private static final int STEP = 4;

    /** Looks before a sleep: as long as most calls hold a bucket. More would slow down the holding thread. */
    private static final int SPINS = 8;

    private final CompiledLimit limit;

    private final String key;

    private final boolean holdsPermits;

    private volatile int version;

    /** Where it is in the table. Written before any other thread can see the bucket. */
    private int slot = BucketSlots.NONE;

    /** By which alone is counted, or {@code null}. */
    private @Nullable CounterRule rule;

    private long used;

    private long since;

    private long rest;

    /** Used if no rule counts alone; {@code null}: full. */
    private @Nullable BucketState state;

    Bucket(CompiledLimit limit, String key, @Nullable BucketState state) {
        this.limit = limit;
        this.key = key;
        this.holdsPermits = limit.rule() instanceof ConcurrencyRule;
        write(state);
    }

    CompiledLimit limit() {
        return limit;
    }

    String key() {
        return key;
    }

    boolean holdsPermits() {
        return holdsPermits;
    }

    int slot() {
        return slot;
    }

    void slot(int number) {
        slot = number;
    }

    /**
     * Decides a call with one limit, where that is all arithmetic on the numbers.
     *
     * @return {@code null} if it is not: there is more to the state, or the clock may be behind
     */
    @Nullable
    RateLimitDecision decide(CompiledLimit limit, long permits, long clock) {
        Admission admission = new Admission(limit, permits);
        Rule<?> counting = limit.rule();
        // The same each time, but for the compiler: in the code for one rule it inlines the functions of no other.
        boolean decided = counting instanceof TokenBucketRule even
                ? decide(even, admission, clock)
                : counting instanceof FixedWindowRule fixed
                        ? decide(fixed, admission, clock)
                        : counting instanceof SlidingWindowRule sliding
                                ? decide(sliding, admission, clock)
                                : counting instanceof CounterRule other && decide(other, admission, clock);
        return decided ? admission.decision() : null;
    }

    private boolean decide(CounterRule own, Admission admission, long clock) {
        if (!hold()) {
            return false;
        }
        CounterState after;
        boolean released = false;
        try {
            if ((rule != own && !own.equals(rule)) || clock < since) {
                return false;
            }
            CounterState before = own.recover(new CounterState(used, since, rest), clock);
            admission.begin(own, before, clock);
            if (admission.blocksKey()) {
                return false;
            }
            // To take nothing would end a debt.
            after = admission.taken() == 0 ? before : own.take(before, clock, admission.taken());
            if (admission.taken() > 0) {
                write(after);
            }
            released = release();
        } finally {
            if (!released) {
                version = version - HELD + STEP; // No method, as in hold(Function).
            }
        }
        admission.end(own.used(after, clock), own.resetAfter(after, clock));
        return true;
    }

    /**
     * Runs work while no other call reads or changes the state.
     *
     * @return what it returns, or {@code null} if the bucket is forgotten
     */
    <T> @Nullable T hold(Function<Bucket, @Nullable T> work) {
        if (!hold()) {
            return null;
        }
        try {
            return work.apply(this);
        } finally {
            // No method: the stack may be at its end, and the bucket would be held for ever.
            version = holdsPermits && rule == null && state == null ? FORGOTTEN : version - HELD + STEP;
        }
    }

    /** Holds the bucket, unless it is forgotten. Once it is held nothing is called before the caller's {@code try}. */
    private boolean hold() {
        for (int spins = 1; ; spins++) {
            int seen = version;
            if ((seen & FORGOTTEN) != 0) {
                return false;
            }
            if (isFree(seen) && VERSION.compareAndSet(this, seen, seen | HELD)) {
                return true;
            }
            pause(spins);
        }
    }

    /** Spares the thread what a volatile write costs: it does not wait until other threads see it. */
    private boolean release() {
        VERSION.lazySet(this, version - HELD + STEP);
        return true;
    }

    private static boolean isFree(int version) {
        return (version & (HELD | FORGOTTEN)) == 0;
    }

    /** Returns the state. The caller holds the bucket. */
    @Nullable
    BucketState read() {
        CounterRule counting = rule;
        return counting == null
                ? state
                : new BucketState(new RuleState<>(counting, new CounterState(used, since, rest)));
    }

    /** Changes the state: all of it or, if the stack overflows, nothing. The caller holds the bucket. */
    void write(@Nullable BucketState next) {
        if (next != null && next.isCount()) {
            CounterRule counting = (CounterRule) next.own().rule();
            write((CounterState) next.own().usage());
            rule = counting;
            state = null;
        } else {
            VarHandle.storeStoreFence();
            rule = null;
            state = next;
        }
    }

    private void write(CounterState count) {
        long newUsed = count.used();
        long newSince = count.since();
        long newRest = count.rest();
        // A thread that looks sees the version of a change no later than the change.
        VarHandle.storeStoreFence();
        used = newUsed;
        since = newSince;
        rest = newRest;
    }

    /** Changes the state, unless the bucket is full. */
    void change(Function<BucketState, @Nullable BucketState> change) {
        hold(self -> {
            BucketState current = read();
            if (current != null) {
                write(change.apply(current));
            }
            return null;
        });
    }

    /**
     * Looks at the state without holding the bucket, so that many can be looked at.
     *
     * @return {@code null} if the bucket is held or forgotten: this never waits
     */
    @Nullable
    Snapshot snapshot() {
        int seen = version;
        BucketState state = read();
        VarHandle.acquireFence();
        return isFree(seen) && seen == version ? new Snapshot(this, seen, state) : null;
    }

    /** Whether the bucket is full. The caller holds it, or knows it alone. */
    boolean isUnused() {
        return rule == null && state == null;
    }

    boolean isForgotten() {
        return (version & FORGOTTEN) != 0;
    }

    /** Forgets the bucket, once no call holds it. Returns false if it was forgotten before. */
    boolean forget() {
        boolean held = hold();
        if (held) {
            version = FORGOTTEN;
        }
        return held;
    }

    /**
     * The state of a bucket at some time.
     *
     * @param state {@code null}: full
     */
    record Snapshot(Bucket bucket, int version, @Nullable BucketState state) {

        /** Forgets the bucket, unless it was used meanwhile. */
        boolean forget() {
            return VERSION.compareAndSet(bucket, version, FORGOTTEN);
        }
    }

    private static void pause(int spins) {
        if (spins % SPINS == 0) {
            LockSupport.parkNanos(1_000);
        } else {
            Thread.onSpinWait();
        }
    }
}

package io.ratelimit.internal.memory;

import io.ratelimit.BucketStatus;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.limit.AlgorithmTraits;
import io.ratelimit.internal.limit.BucketName;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Counts the permits that calls hold, by bucket, for the in-memory store. A counter exists only while there are such calls, so it is
 * never evicted.
 */
final class PermitCounters {

    private final Map<BucketName, Counter> counters = new ConcurrentHashMap<>();

    /** Returns the counter of the charge's bucket. The caller unlocks it. */
    Counter lock(Charge charge) {
        BucketName name = new BucketName(charge.limit().id(), charge.key());
        while (true) {
            Counter counter = counters.computeIfAbsent(name, Counter::new);
            counter.lock();
            if (!counter.forgotten) {
                return counter;
            }
            counter.unlock();
        }
    }

    /** Unlocks a counter, and forgets it if no call holds permits. */
    void unlock(Counter counter) {
        try {
            if (counter.used == 0) {
                forget(counter);
            }
        } finally {
            counter.unlock();
        }
    }

    /** Releases permits that were taken from this counter, not from a later one of the same bucket. */
    void release(Counter counter, long permits) {
        counter.lock();
        counter.used -= permits;
        unlock(counter);
    }

    private void forget(Counter counter) {
        counter.forgotten = true;
        counters.remove(counter.name, counter);
    }

    /** Returns what would be decided now. */
    RateLimitDecision peek(Charge charge) {
        return decision(charge, used(charge.limit(), charge.key()), false);
    }

    BucketStatus status(RateLimit limit, @Nullable String key) {
        long used = used(limit, key);
        Duration reset = Duration.of(used == 0 ? 0 : AlgorithmTraits.UNKNOWN_MICROS, ChronoUnit.MICROS);
        return new BucketStatus(limit.capacity(), Math.max(0, limit.capacity() - used), reset, Duration.ZERO);
    }

    /** Returns how many permits of the limit calls hold, of all keys together. */
    long held(RateLimit limit) {
        return counters.keySet().stream()
                .filter(name -> name.limit().equals(limit.id()))
                .mapToLong(name -> used(limit, name.key()))
                .sum();
    }

    private long used(RateLimit limit, @Nullable String key) {
        Counter counter = counters.get(new BucketName(limit.id(), key));
        if (counter == null) {
            return 0;
        }
        counter.lock();
        try {
            return counter.used;
        } finally {
            counter.unlock();
        }
    }

    /** Forgets the calls that hold permits, which release nothing when they end. */
    void reset(RateLimit limit, @Nullable String key) {
        Counter counter = counters.get(new BucketName(limit.id(), key));
        if (counter != null) {
            counter.lock();
            forget(counter);
            counter.unlock();
        }
    }

    static boolean fits(Charge charge, long used) {
        long capacity = charge.limit().capacity();
        return charge.permits() == 0 || (charge.permits() <= capacity && used <= capacity - charge.permits());
    }

    /**
     * Returns the decision about a charge.
     *
     * @param used before it
     * @param charged whether it takes its permits
     */
    static RateLimitDecision decision(Charge charge, long used, boolean charged) {
        long capacity = charge.limit().capacity();
        long after = charged ? used + charge.permits() : used;
        long retry = fits(charge, used) ? 0 : charge.permits() > capacity ? -1 : AlgorithmTraits.UNKNOWN_MICROS;
        long reset = after == 0 ? 0 : AlgorithmTraits.UNKNOWN_MICROS;
        return RateLimitDecision.ofMicros(capacity, Math.max(0, capacity - after), 0, retry, reset);
    }

    /** The permits of one bucket. Its fields are read and written by the thread that has locked it. */
    static final class Counter {

        private final ReentrantLock lock = new ReentrantLock();

        private final BucketName name;

        private long used;

        /** Whether it is no longer the counter of the bucket. */
        private boolean forgotten;

        Counter(BucketName name) {
            this.name = name;
        }

        private void lock() {
            lock.lock();
        }

        private void unlock() {
            lock.unlock();
        }

        long used() {
            return used;
        }

        void take(long permits) {
            used += permits;
        }
    }
}

package io.ratelimit.internal.store.rejection;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Caches rejections. Each call has one slot, which the next call with the same hash takes over. So the cache is bounded,
 * and the store decides what was overwritten.
 *
 * <p>Additions of permits to buckets are numbered. A rejection holds until there is one to a bucket that rejects, or to one with the
 * same hash.
 */
public final class RejectionCache {

    private static final int SLOTS = 1 << 14;

    private static final int ADDITIONS = 1 << 10;

    private final AtomicReferenceArray<@Nullable CachedRejection> slots = new AtomicReferenceArray<>(SLOTS);

    /** The number of the last addition, by the hash of the bucket. */
    private final AtomicLongArray additions = new AtomicLongArray(ADDITIONS);

    private final AtomicLong last = new AtomicLong();

    private final LongSupplier nanos;

    /** @param nanos a monotonic clock */
    public RejectionCache(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Returns the outcome if the call is known to be rejected; {@code null} if the store has to decide. */
    @Nullable
    StoreOutcome find(StoreRequest request) {
        List<Charge> call = request.charges();
        CachedRejection known = slots.get(slot(call));
        if (known == null || !known.covers(call) || !holds(known)) {
            return null;
        }
        long now = nanos.getAsLong();
        return now - known.until() < 0 ? known.outcome(request, now) : null;
    }

    /** Begins a query. To be called before the store is. */
    Query query() {
        return new Query(nanos.getAsLong(), last.get());
    }

    /** Drops what is cached for a bucket, and what queries under way will bring: permits were added to it. */
    void evict(RateLimit limit, @Nullable String key) {
        additions.accumulateAndGet(hash(limit, key) & (ADDITIONS - 1), last.incrementAndGet(), Math::max);
    }

    /** Drops what is cached for every bucket: another instance has changed one whose key is not known here. */
    void evictAll() {
        long number = last.incrementAndGet();
        for (int i = 0; i < ADDITIONS; i++) {
            additions.accumulateAndGet(i, number, Math::max);
        }
    }

    /** What is added to a bucket that allows the call, such as what the call had taken there, lets it be rejected as before. */
    private boolean holds(CachedRejection known) {
        for (int i = 0; i < known.charges().size(); i++) {
            int hash = hash(known.charges().get(i));
            if (!known.decisions().get(i).allowed() && additions.get(hash & (ADDITIONS - 1)) > known.addition()) {
                return false;
            }
        }
        return true;
    }

    private static int slot(List<Charge> call) {
        int hash = 0;
        for (int i = 0; i < call.size(); i++) {
            hash = 31 * hash + hash(call.get(i));
        }
        return hash & (SLOTS - 1);
    }

    private static int hash(Charge charge) {
        return hash(charge.limit(), charge.key());
    }

    /** Permits that are added are added for the limit before and after a change of its numbers, too. */
    private static int hash(RateLimit limit, @Nullable String key) {
        int hash = 31 * limit.id().hashCode() + Objects.hashCode(key);
        return hash ^ (hash >>> 16);
    }

    /** Caches the outcome if it is a rejection that lasts for a while. */
    void answered(Query query, StoreOutcome outcome) {
        CachedRejection rejection = CachedRejection.of(outcome, query.sent, query.addition);
        if (rejection != null && mayBeCached(outcome.charges())) {
            slots.set(slot(outcome.charges()), rejection);
        }
    }

    /**
     * Callers choose keys, and must not choose how much memory they take. Permits that calls hold can be free at any moment.
     */
    private static boolean mayBeCached(List<Charge> call) {
        for (Charge charge : call) {
            String key = charge.key();
            if ((key != null && key.length() > KeyDigest.LONGEST_KEY)
                    || !charge.limit().hasRate()) {
                return false;
            }
        }
        return true;
    }

    /**
     * A call that the store is deciding.
     *
     * @param addition the number of the last one when the store was asked
     */
    record Query(long sent, long addition) {}
}

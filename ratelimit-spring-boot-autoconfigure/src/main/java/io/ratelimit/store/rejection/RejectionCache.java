package io.ratelimit.store.rejection;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.KeyDigest;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers rejections. A call has one place, which the next one with the same hash takes over: so they are bounded, and
 * whoever is forgotten is decided by the store.
 */
final class RejectionCache {

    private static final int PLACES = 1 << 14;

    private final AtomicReferenceArray<@Nullable CachedRejection> places = new AtomicReferenceArray<>(PLACES);

    private final BucketVersions stamps = new BucketVersions();

    private final LongSupplier nanos;

    /** @param nanos a monotonic clock */
    RejectionCache(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** What is known of the call; {@code null} if the store is to be asked. */
    @Nullable
    RateLimitDecision find(Charge call) {
        CachedRejection known = places.get(place(call));
        if (known == null || !known.covers(call) || known.stamp() != stamps.of(call)) {
            return null;
        }
        long now = nanos.getAsLong();
        return now - known.until() < 0 ? known.decision(call, now) : null;
    }

    /** What is known of the call; {@code null} if the store is to be asked. */
    @Nullable
    List<RateLimitDecision> find(List<Charge> call) {
        if (call.size() == 1) {
            RateLimitDecision decision = find(call.get(0));
            return decision == null ? null : List.of(decision);
        }
        CachedRejection known = places.get(place(call));
        if (known == null || !known.covers(call) || known.stamp() != stamps.of(call)) {
            return null;
        }
        long now = nanos.getAsLong();
        return now - known.until() < 0 ? known.decisions(call, now) : null;
    }

    /** To be called before the store is asked. */
    Question ask(Charge call) {
        return new Question(nanos.getAsLong(), stamps.of(call));
    }

    /** To be called before the store is asked. */
    Question ask(List<Charge> call) {
        return new Question(nanos.getAsLong(), stamps.of(call));
    }

    /** Permits were given to a bucket: what is known of it no longer holds, nor does what is on its way. */
    void forget(RateLimit limit, @Nullable String key) {
        stamps.change(limit, key);
    }

    private static int place(Charge call) {
        return BucketVersions.hash(call.limit(), call.key()) & (PLACES - 1);
    }

    private static int place(List<Charge> call) {
        int hash = 0;
        for (Charge charge : call) {
            hash = 31 * hash + BucketVersions.hash(charge.limit(), charge.key());
        }
        return hash & (PLACES - 1);
    }

    /** What was known when the store was asked about a call. */
    final class Question {

        private final long asked;

        private final long stamp;

        private Question(long asked, long stamp) {
            this.asked = asked;
            this.stamp = stamp;
        }

        /** Remembers the answer, if it is a rejection and will be one for a while. */
        void answered(Charge call, RateLimitDecision decision) {
            if (!decision.allowed()) {
                answered(List.of(call), List.of(decision));
            }
        }

        /** Remembers the answer, if it is a rejection and will be one for a while. */
        void answered(List<Charge> call, List<RateLimitDecision> decisions) {
            CachedRejection rejection = CachedRejection.of(call, decisions, asked, stamp);
            if (rejection != null && !hasLongKey(call)) {
                places.set(call.size() == 1 ? place(call.get(0)) : place(call), rejection);
            }
        }

        /** Callers choose keys, and must not choose how much memory they take. */
        private static boolean hasLongKey(List<Charge> call) {
            for (Charge charge : call) {
                String key = charge.key();
                if (key != null && key.length() > KeyDigest.LONGEST_KEY) {
                    return true;
                }
            }
            return false;
        }
    }
}

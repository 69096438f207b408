package io.ratelimit;

import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers rejections. A call has one place, which the next one with the same hash takes over: so they are bounded, and
 * whoever is forgotten is decided by the store.
 */
final class Rejections {

    private static final int PLACES = 1 << 14;

    private final AtomicReferenceArray<@Nullable Rejection> places = new AtomicReferenceArray<>(PLACES);

    private final BucketStamps stamps = new BucketStamps();

    private final LongSupplier nanos;

    /** @param nanos a monotonic clock */
    Rejections(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** What is known of the call; {@code null} if the store is to be asked. */
    @Nullable
    RateLimitDecision find(Charge call) {
        Rejection known = places.get(place(call));
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
        Rejection known = places.get(place(call));
        if (known == null || !known.covers(call) || known.stamp() != stamps.of(call)) {
            return null;
        }
        long now = nanos.getAsLong();
        return now - known.until() < 0 ? known.decisions(call, now) : null;
    }

    /** To be called before the store is asked. */
    Question ask(List<Charge> call) {
        return new Question(call, nanos.getAsLong(), stamps.of(call));
    }

    /** Permits were given to a bucket: what is known of it no longer holds, nor does what is on its way. */
    void forget(RateLimit limit, @Nullable String key) {
        stamps.change(limit, key);
    }

    private static int place(Charge call) {
        return BucketStamps.hash(call.limit(), call.key()) & (PLACES - 1);
    }

    private static int place(List<Charge> call) {
        int hash = 0;
        for (Charge charge : call) {
            hash = 31 * hash + BucketStamps.hash(charge.limit(), charge.key());
        }
        return hash & (PLACES - 1);
    }

    /** A call that the store is asked about. */
    final class Question {

        private final List<Charge> call;

        private final long asked;

        private final long stamp;

        private Question(List<Charge> call, long asked, long stamp) {
            this.call = call;
            this.asked = asked;
            this.stamp = stamp;
        }

        /** Remembers the answer, if it is a rejection and will be one for a while. */
        void answered(List<RateLimitDecision> decisions) {
            Rejection rejection = Rejection.of(call, decisions, asked, stamp);
            if (rejection != null && !hasLongKey()) {
                places.set(call.size() == 1 ? place(call.get(0)) : place(call), rejection);
            }
        }

        /** Callers choose keys, and must not choose how much memory they take. */
        private boolean hasLongKey() {
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

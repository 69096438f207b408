package io.ratelimit.store.lease;

import io.ratelimit.RateLimit;
import io.ratelimit.store.KeyDigest;
import io.ratelimit.store.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The buckets that this instance has leases of, or may have soon. Bounded. */
final class LeasedBuckets {

    /** Callers cannot have an empty key. */
    private static final String ALL_CALLERS = "";

    /** How many times a small lease is found idle until it ends, while there is room for more buckets. */
    private static final int PATIENCE = 20;

    private final int most;

    private final AtomicInteger count = new AtomicInteger();

    private final Map<RateLimit, Map<String, LeasedBucket>> buckets = new ConcurrentHashMap<>();

    LeasedBuckets(int most) {
        this.most = most;
    }

    private static String key(@Nullable String key) {
        return key == null ? ALL_CALLERS : key;
    }

    @Nullable
    LeasedBucket find(RateLimit limit, @Nullable String key) {
        Map<String, LeasedBucket> ofLimit = buckets.get(limit);
        return ofLimit == null ? null : ofLimit.get(key(key));
    }

    /** Finds those of a key of which only the digest is known. Looks through all, which few callers ask for. */
    List<LeasedBucket> find(String limit, String keyDigest) {
        List<LeasedBucket> found = new ArrayList<>();
        buckets.forEach((known, ofLimit) -> {
            if (known.id().equals(limit)) {
                ofLimit.forEach((key, bucket) -> {
                    if (KeyDigest.of(key).equals(keyDigest)) {
                        found.add(bucket);
                    }
                });
            }
        });
        return found;
    }

    /** Finds or adds; {@code null} if there are too many, or the key is too long to be kept. */
    @Nullable
    LeasedBucket of(RateLimit limit, @Nullable String key) {
        LeasedBucket known = find(limit, key);
        if (known != null || count.get() >= most || key(key).length() > KeyDigest.LONGEST_KEY) {
            return known;
        }
        LeasedBucket added = new LeasedBucket(limit);
        Map<String, LeasedBucket> ofLimit = buckets.computeIfAbsent(limit, first -> new ConcurrentHashMap<>());
        known = ofLimit.putIfAbsent(key(key), added);
        if (known == null) {
            count.incrementAndGet();
        }
        return known == null ? added : known;
    }

    /** Returns the buckets that no call has taken or wanted permits from since the last time; small leases last for longer. */
    List<Entry> idle() {
        int patience = count.get() <= most / 2 ? PATIENCE : 1;
        List<Entry> idle = new ArrayList<>();
        buckets.values()
                .forEach(ofLimit -> ofLimit.forEach((key, bucket) -> {
                    if (bucket.look(patience)) {
                        idle.add(new Entry(ofLimit, key, bucket));
                    }
                }));
        return idle;
    }

    /** Requests that the store should long have answered; their buckets ask anew. */
    List<LeaseRequest> giveUp(long latest) {
        List<LeaseRequest> overdue = new ArrayList<>();
        buckets.values()
                .forEach(ofLimit -> ofLimit.values().forEach(bucket -> {
                    LeaseRequest request = bucket.giveUp(latest);
                    if (request != null) {
                        overdue.add(request);
                    }
                }));
        return overdue;
    }

    /**
     * Removes one that has stayed idle.
     *
     * @param most the permits that it may have left
     * @return the permits to refund
     */
    List<Lease> retireIfIdle(Entry entry, long most, long nanos) {
        List<Lease> remainders = entry.bucket.retireIfIdle(most, nanos);
        if (remainders == null) {
            return List.of();
        }
        remove(entry.ofLimit, entry.key, entry.bucket);
        return remainders;
    }

    /**
     * Removes all.
     *
     * @return the permits to refund
     */
    List<Lease> retireAll(long nanos) {
        List<Lease> remainders = new ArrayList<>();
        buckets.values()
                .forEach(ofLimit -> ofLimit.forEach((key, bucket) -> {
                    remainders.addAll(bucket.retire(nanos));
                    remove(ofLimit, key, bucket);
                }));
        return remainders;
    }

    private void remove(Map<String, LeasedBucket> ofLimit, String key, LeasedBucket bucket) {
        if (ofLimit.remove(key, bucket)) {
            count.decrementAndGet();
        }
    }

    /** A bucket, and where it is. */
    record Entry(Map<String, LeasedBucket> ofLimit, String key, LeasedBucket bucket) {}
}

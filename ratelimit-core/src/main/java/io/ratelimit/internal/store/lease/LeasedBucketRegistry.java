package io.ratelimit.internal.store.lease;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The buckets that this instance has leases of, or may have soon. Bounded; a limit without buckets is not kept. */
final class LeasedBucketRegistry {

    /** Callers cannot have an empty key. */
    private static final String ALL_CALLERS = "";

    /** How many times a small lease is found idle until it ends, while there is room for more buckets. */
    private static final int PATIENCE = 20;

    private final int most;

    private final AtomicInteger count = new AtomicInteger();

    private final Map<RateLimit, Map<String, LeasedBucket>> buckets = new ConcurrentHashMap<>();

    LeasedBucketRegistry(int most) {
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

    /** Finds those of a key by its digest. Looks through all, which few callers ask for. */
    List<LeasedBucket> find(String limit, String keyDigest) {
        return all(limit)
                .filter(bucket -> KeyDigest.of(bucket.key()).equals(keyDigest))
                .toList();
    }

    /** Finds or adds; {@code null} if there are too many, or the key is too long to be kept. */
    @Nullable
    LeasedBucket of(RateLimit limit, @Nullable String key) {
        LeasedBucket known = find(limit, key);
        if (known != null || count.get() >= most || key(key).length() > KeyDigest.LONGEST_KEY) {
            return known;
        }
        LeasedBucket added = new LeasedBucket(limit, key(key));
        buckets.compute(limit, (same, present) -> {
            Map<String, LeasedBucket> ofLimit = present == null ? new ConcurrentHashMap<>() : present;
            if (ofLimit.putIfAbsent(key(key), added) == null) {
                count.incrementAndGet();
            }
            return ofLimit;
        });
        return find(limit, key);
    }

    /** Finds those of a key, of all plans of the limit. */
    List<LeasedBucket> ofAllPlans(RateLimit limit, @Nullable String key) {
        List<LeasedBucket> found = new ArrayList<>();
        buckets.forEach((known, ofLimit) -> {
            LeasedBucket bucket = known.id().equals(limit.id()) ? ofLimit.get(key(key)) : null;
            if (bucket != null) {
                found.add(bucket);
            }
        });
        return found;
    }

    /**
     * Removes those of a key by other plans: the key has another one now.
     *
     * @return the permits to refund
     */
    List<Lease> retireOtherPlans(RateLimit limit, @Nullable String key, long nanos) {
        return retire(ofAllPlans(limit, key).stream().filter(bucket -> bucket.limit() != limit), nanos);
    }

    /** Returns how many times a small lease has to be found idle until it ends. */
    int patience() {
        return count.get() <= most / 2 ? PATIENCE : 1;
    }

    /** Requests that the store should long have answered; their buckets ask anew. */
    List<LeaseRequest> giveUp(long latest) {
        return all().flatMap(bucket -> Stream.ofNullable(bucket.giveUp(latest))).toList();
    }

    /**
     * Looks at one and removes it if it is idle: see {@link LeasedBucket#retireIfIdle}.
     *
     * @return the permits to refund
     */
    List<Lease> retireIfIdle(LeasedBucket bucket, int patience, boolean refundable, long nanos) {
        List<Lease> remainders = bucket.retireIfIdle(patience, refundable, nanos);
        if (remainders == null) {
            return List.of();
        }
        remove(bucket);
        return remainders;
    }

    /**
     * Removes all.
     *
     * @return the permits to refund
     */
    List<Lease> retireAll(long nanos) {
        return retire(all(), nanos);
    }

    /**
     * Removes those of a limit, also those under its former rules.
     *
     * @param limit its id
     * @return the permits to refund
     */
    List<Lease> retire(String limit, long nanos) {
        return retire(all(limit), nanos);
    }

    private List<Lease> retire(Stream<LeasedBucket> some, long nanos) {
        List<Lease> remainders = new ArrayList<>();
        some.forEach(bucket -> {
            remainders.addAll(bucket.retire(nanos));
            remove(bucket);
        });
        return remainders;
    }

    private void remove(LeasedBucket bucket) {
        buckets.computeIfPresent(bucket.limit(), (limit, ofLimit) -> {
            if (ofLimit.remove(bucket.key(), bucket)) {
                count.decrementAndGet();
            }
            return ofLimit.isEmpty() ? null : ofLimit;
        });
    }

    /**
     * Returns how many permits are leased and not handed out.
     *
     * @param limit the id of the limit
     */
    long leased(String limit, long nanos) {
        return all(limit).mapToLong(bucket -> bucket.remainder(nanos)).sum();
    }

    Stream<LeasedBucket> all() {
        return buckets.values().stream().flatMap(ofLimit -> ofLimit.values().stream());
    }

    /** Those of a limit, also those under its former rules. */
    private Stream<LeasedBucket> all(String limit) {
        return all().filter(bucket -> bucket.limit().id().equals(limit));
    }
}

package io.ratelimit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The buckets of which this instance has leases, or may have soon; a bounded number. */
final class LeasedBuckets {

    /** No caller's key. */
    private static final String ALL_CALLERS = "";

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

    /**
     * Removes those that are idle, or all.
     *
     * @return what is to be given back
     */
    List<Leftover> retire(boolean all, long nanos) {
        List<Leftover> leftovers = new ArrayList<>();
        buckets.values()
                .forEach(ofLimit -> ofLimit.values().removeIf(bucket -> {
                    boolean over = all || bucket.retireIfIdle();
                    if (over) {
                        leftovers.add(bucket.retire(nanos));
                        count.decrementAndGet();
                    }
                    return over;
                }));
        return leftovers;
    }
}

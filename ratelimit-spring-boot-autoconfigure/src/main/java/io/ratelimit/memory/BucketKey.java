package io.ratelimit.memory;

import io.ratelimit.KeyDigest;
import io.ratelimit.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * Names a bucket. Has an order, so that calls with several limits can hold their buckets in the same one, and so that a
 * hash map is not slowed down by callers who choose keys with the same hash.
 *
 * @param limit the limit's id
 * @param key whose bucket; {@code null}: the one bucket of all callers
 * @param digested whether the key is but a digest, because it was too long to be kept
 */
record BucketKey(String limit, @Nullable String key, boolean digested) implements Comparable<BucketKey> {

    static BucketKey of(RateLimit limit, @Nullable String key) {
        return key == null || key.length() <= KeyDigest.LONGEST_KEY
                ? new BucketKey(limit.id(), key, false)
                : new BucketKey(limit.id(), KeyDigest.of(key), true);
    }

    @Override
    public int compareTo(BucketKey other) {
        int order = limit.compareTo(other.limit);
        if (order == 0) {
            order = Boolean.compare(digested, other.digested);
        }
        return order != 0 ? order : compare(key, other.key);
    }

    private static int compare(@Nullable String one, @Nullable String other) {
        if (one == null || other == null) {
            return Boolean.compare(one != null, other != null);
        }
        return one.compareTo(other);
    }
}

package io.ratelimit.memory;

import org.jspecify.annotations.Nullable;

/**
 * Names a bucket. Has an order, so that calls with several limits can hold their buckets in the same one, and so that a
 * hash map is not slowed down by callers who choose keys with the same hash.
 *
 * @param limit the limit's id
 * @param key whose bucket; {@code null}: the one bucket of all callers
 */
record BucketKey(String limit, @Nullable String key) implements Comparable<BucketKey> {

    @Override
    public int compareTo(BucketKey other) {
        int byLimit = limit.compareTo(other.limit);
        return byLimit != 0 ? byLimit : compare(key, other.key);
    }

    private static int compare(@Nullable String one, @Nullable String other) {
        if (one == null || other == null) {
            return Boolean.compare(one != null, other != null);
        }
        return one.compareTo(other);
    }
}

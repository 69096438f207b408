package io.ratelimit.internal.limit;

import io.ratelimit.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * Names a bucket. Limits of one name share it, whatever their numbers.
 *
 * @param limit the id of the limit
 * @param key {@code null}: the one bucket of all callers
 */
public record BucketName(String limit, @Nullable String key) {

    public static BucketName of(RateLimit limit, @Nullable String key) {
        return new BucketName(limit.id(), key);
    }
}

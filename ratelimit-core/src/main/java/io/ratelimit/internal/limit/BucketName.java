package io.ratelimit.internal.limit;

import org.jspecify.annotations.Nullable;

/**
 * Names a bucket. Limits of one name share it, whatever their numbers.
 *
 * @param limit the id of the limit
 * @param key {@code null}: the one bucket of all callers
 */
public record BucketName(String limit, @Nullable String key) {}

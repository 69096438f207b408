package io.ratelimit.actuate;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.Scope;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Describes the bucket of one key, which it does not name.
 *
 * @param limit the name of the limit
 * @param remaining the permits in the bucket; while the key is blocked, no call can take them
 * @param resetAfter the time until the bucket is full again
 * @param blockedFor the time until the key is no longer blocked; {@code null}: it is not blocked
 * @param blockedUntil the same as a time of this instance's clock
 * @param scope {@code INSTANCE} if the bucket is that of the instance that answers; {@code null}: all instances share it
 */
public record BucketDescriptor(
        String limit,
        long capacity,
        long remaining,
        Duration resetAfter,
        @Nullable Duration blockedFor,
        @Nullable Instant blockedUntil,
        @Nullable String scope)
        implements OperationResponseBody {

    static BucketDescriptor of(RateLimit limit, BucketStatus status, Clock clock) {
        return new BucketDescriptor(
                limit.name(),
                status.capacity(),
                status.remaining(),
                status.resetAfter(),
                status.isBlocked() ? status.blockedFor() : null,
                status.isBlocked() ? clock.instant().plus(status.blockedFor()) : null,
                limit.scope() == Scope.INSTANCE ? limit.scope().name() : null);
    }
}

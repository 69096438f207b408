package io.ratelimit.redis.door;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.RedisTopology;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A call of a server that was sent, or refused by its circuit breaker.
 *
 * @param reply what the driver returns
 * @param end tells the circuit breaker of the reply or the failure, once, and returns the failure; {@code null}: there is none
 */
public record ServerCall<T>(
        CompletableFuture<T> reply, Function<@Nullable Throwable, @Nullable RateLimitStoreException> end) {

    /** Returns a call that was not sent. */
    public static <T> ServerCall<T> unsent(Throwable failure) {
        return new ServerCall<>(
                CompletableFuture.failedFuture(failure), thrown -> RedisFailureMapper.of(RedisTopology.REDIS, failure));
    }

    /** Returns the reply. At the deadline, the call fails, and is cancelled. */
    public CompletableFuture<T> by(Deadline deadline) {
        return Futures.start(() -> deadline.bound(reply)).handle((answer, thrown) -> {
            RateLimitStoreException failure = end.apply(thrown);
            if (failure != null) {
                throw failure;
            }
            return answer;
        });
    }
}

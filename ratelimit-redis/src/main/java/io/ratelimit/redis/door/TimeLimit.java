package io.ratelimit.redis.door;

import java.util.concurrent.CompletableFuture;

/** Limits the time that a caller waits for work. */
public interface TimeLimit {

    /** Returns the same work, which fails with a {@link java.util.concurrent.TimeoutException} and is cancelled when the time is over. */
    <T> CompletableFuture<T> bound(CompletableFuture<T> work);
}

package io.ratelimit.redis;

import java.util.concurrent.CompletableFuture;

/** How long work is waited for. */
interface TimeLimit {

    /** The same work, or a {@link java.util.concurrent.TimeoutException} in time. The work is cancelled then. */
    <T> CompletableFuture<T> bound(CompletableFuture<T> work);
}

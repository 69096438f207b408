package io.ratelimit.store;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitStoreException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Refunds what a call's charges have taken from the buckets that were charged, unless it has already come back over time or
 * the bucket was forgotten since. Each charge is refunded at most once, however often this is called and by however many
 * threads.
 */
@FunctionalInterface
public interface Refund {

    /** Refunds nothing. */
    Refund NONE = charges -> CompletableFuture.completedFuture(null);

    /**
     * Refunds without blocking the caller.
     *
     * @param charges some of those that were decided; a charge that has taken nothing is ignored
     * @return done when they are refunded; completes with {@link RateLimitStoreException} if the store fails, and then a
     *     further call does not refund them either, because they may have been refunded
     */
    CompletionStage<Void> refund(List<Charge> charges);
}

package io.ratelimit.store;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitStoreException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Gives back what some of a call's charges have taken, as far as it is not back by itself. Each charge is given back once,
 * however often and by however many threads it is asked for.
 */
@FunctionalInterface
public interface Refund {

    /** Where nothing can be given back. */
    Refund NONE = charges -> CompletableFuture.completedFuture(null);

    /**
     * Gives back, without blocking the caller.
     *
     * @param charges some of those that were decided; of one that was rejected or free there is nothing to give back
     * @return done when they are given back; completes with {@link RateLimitStoreException} if the store cannot, and then
     *     they are not given back by another call either, because they may have been
     */
    CompletionStage<Void> refund(List<Charge> charges);
}

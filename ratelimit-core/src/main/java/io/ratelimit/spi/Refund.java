package io.ratelimit.spi;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Refunds what a call's charges have taken from the buckets that were charged, unless it has already come back over time or
 * the bucket was forgotten since. Each charge is refunded at most once, all of it or a part, however often this is called and
 * by however many threads.
 *
 * <p>A refund never admits more; it may return less. If a later call of another plan, or by changed numbers, took more permits
 * than the charged limit had left, it returns nothing.
 */
@FunctionalInterface
public interface Refund {

    /** Refunds nothing. */
    Refund NONE = permits -> CompletableFuture.completedFuture(null);

    /**
     * Refunds parts of charges without blocking the caller.
     *
     * @param permits how many of its permits are refunded, for some of the charges that were decided; a charge that has taken
     *     nothing is ignored
     * @return done when they are refunded; completes with {@link io.ratelimit.RateLimitStoreException} if the store fails, and
     *     then a further call does not refund them either, because they may have been refunded
     */
    CompletionStage<Void> refund(Map<Charge, Long> permits);

    /** Refunds all permits of these charges: see {@link #refund(Map)}. */
    default CompletionStage<Void> refund(List<Charge> charges) {
        Map<Charge, Long> permits = new LinkedHashMap<>();
        charges.forEach(charge -> permits.put(charge, charge.permits()));
        return refund(permits);
    }
}

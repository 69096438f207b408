package io.ratelimit.store;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import java.util.concurrent.CompletionStage;

/**
 * What became of a charge for which a store was asked to take more permits than it needs.
 *
 * @param decision the charge's own; of what is left, the lease has been taken off
 * @param more how many permits were taken beyond the charge's own; 0 if that was rejected
 * @param unused gives back what of it all was not used
 */
public record Lease(RateLimitDecision decision, long more, Unused unused) {

    /** Gives back permits of a lease, as far as they are not back by themselves and nobody else's permits are touched. */
    @FunctionalInterface
    public interface Unused {

        /**
         * Gives back, without blocking the caller. May be asked for several times, never for more than was taken.
         *
         * @return completes with {@link RateLimitStoreException} if the store cannot
         */
        CompletionStage<Void> refund(long permits);
    }
}

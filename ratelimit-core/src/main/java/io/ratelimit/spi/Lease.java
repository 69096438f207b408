package io.ratelimit.spi;

import io.ratelimit.RateLimitStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Permits taken from a bucket in advance, or those of them that are left.
 *
 * @param permits how many
 * @param unused refunds the permits that were not used
 */
public record Lease(long permits, Unused unused) {

    public static final Lease NONE = new Lease(0, permits -> CompletableFuture.completedFuture(null));

    /** Refunds permits of a lease and of the charge that it was taken with, unless they have already come back over time. */
    @FunctionalInterface
    public interface Unused {

        /**
         * Refunds without blocking the caller. May be called several times, but never for more than was taken.
         *
         * @return completes with {@link RateLimitStoreException} if the store fails
         */
        CompletionStage<Void> refund(long permits);
    }

    public boolean isEmpty() {
        return permits == 0;
    }
}

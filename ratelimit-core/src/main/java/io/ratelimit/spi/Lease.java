package io.ratelimit.spi;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.Futures;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Permits taken from a bucket in advance, or those of them that are left.
 *
 * @param permits how many
 * @param unused refunds the permits that were not used
 */
public record Lease(long permits, Unused unused) {

    /** No permits, so that there is nothing to refund. */
    public static final Lease NONE = new Lease(0, permits -> CompletableFuture.completedFuture(null));

    /** Refunds permits of a lease and of the charge that it was taken with, unless they have already come back over time. */
    @FunctionalInterface
    public interface Unused {

        /**
         * Refunds without blocking the caller. May be called several times, but never for more than was taken.
         *
         * @param permits at least 1
         * @return completes with {@link RateLimitStoreException} if the store fails
         */
        CompletionStage<Void> refund(long permits);

        /**
         * Refunds, in the background, what is left of leases of the same store, in as few steps as it can.
         *
         * @return completes with the first failure, if there is one; what was not refunded comes back over time
         */
        default CompletionStage<Void> refund(List<Lease> leases) {
            return Futures.forAll(leases, lease -> lease.unused().refund(lease.permits()));
        }

        /** Returns how many leases of the same store can be refunded now without slowing down decisions. */
        default int affordable() {
            return Integer.MAX_VALUE;
        }

        /** Returns whether this lease can be refunded now: if not, as while a server fails, a refund would be lost. */
        default boolean isAvailable() {
            return true;
        }
    }

    /** Refunds what is left of leases, all of the same store: see {@link Unused#refund(List)}. */
    public static CompletionStage<Void> refund(List<Lease> leases) {
        return leases.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : leases.get(0).unused().refund(leases);
    }

    /** Returns whether there are no permits. */
    public boolean isEmpty() {
        return permits == 0;
    }
}

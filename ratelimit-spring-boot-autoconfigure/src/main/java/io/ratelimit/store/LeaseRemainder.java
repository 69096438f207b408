package io.ratelimit.store;

import java.util.concurrent.CompletableFuture;

/**
 * Permits of a lease that nobody has used, nor will.
 *
 * @param unused refunds them
 * @param permits how many; those that are not back by themselves
 */
public record LeaseRemainder(Lease.Unused unused, long permits) {

    public static final LeaseRemainder NONE = new LeaseRemainder(permits -> CompletableFuture.completedFuture(null), 0);

    public boolean isEmpty() {
        return permits == 0;
    }
}

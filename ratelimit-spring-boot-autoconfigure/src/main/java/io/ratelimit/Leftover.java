package io.ratelimit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What a lease comes to at its end.
 *
 * @param permits those that were not handed out, and are not back by themselves
 * @param nextAsk how many permits the next lease is to be of
 */
record Leftover(Lease.Unused unused, long permits, long nextAsk) {

    static final Leftover NONE = new Leftover(permits -> CompletableFuture.completedFuture(null), 0, 0);

    /** Gives back; what the store does not take comes back by itself. Done in any case. */
    CompletionStage<Void> giveBack() {
        if (permits == 0) {
            return CompletableFuture.completedFuture(null);
        }
        try {
            return unused.giveBack(permits).exceptionally(thrown -> null);
        } catch (Throwable ex) {
            return CompletableFuture.completedFuture(null);
        }
    }
}

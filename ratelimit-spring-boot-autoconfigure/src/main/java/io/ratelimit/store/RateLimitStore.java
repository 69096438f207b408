package io.ratelimit.store;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the buckets and decides. Implementations decide all charges of a call in one atomic step: either every limit is
 * charged or none is. A limit in {@linkplain RateLimit#dryRun() dry run} has no say in that: it is charged if its own
 * permits are there.
 *
 * <p>A store that cannot decide throws {@link RateLimitStoreException}, or completes with it.
 */
public interface RateLimitStore {

    /**
     * Decides, and charges if every limit allows it.
     *
     * @param charges at least one, and no two of one bucket
     * @return each charge's own decision, in the same order: whether <em>its</em> permits are there. If any limit not in
     *     dry run rejects, none was charged.
     * @throws IllegalArgumentException if two charges are for the same bucket
     */
    List<RateLimitDecision> decide(List<Charge> charges);

    /** As {@link #decide(List)}, of one charge. */
    default RateLimitDecision decide(Charge charge) {
        return decide(List.of(charge)).get(0);
    }

    /** As {@link #decide(List)}, without blocking the caller. */
    CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges);

    /**
     * As {@link #decideAsync}, and what is taken can be given back: to the buckets that it was taken from, as far as it is
     * not back by itself. Of a bucket that was forgotten since there is nothing to give back.
     */
    CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges);

    /**
     * As {@link #decideAsync} of one charge; if it is admitted, takes up to so many permits more, for the caller to hand
     * out. A store that need not be spared a trip takes none.
     *
     * @param more at least 0
     */
    default CompletionStage<Lease> lease(Charge charge, long more) {
        List<Charge> charges = List.of(charge);
        return decideRefundably(charges)
                .thenApply(decided -> new Lease(
                        decided.decisions().get(0),
                        0,
                        permits -> decided.refund().refund(charges)));
    }

    /**
     * Refunds what is unused of leases of this store, in the background: as far as it is not back by itself and nobody else's
     * permits are touched.
     *
     * @return completes with what is wrong, if something is; then what was not refunded comes back by itself
     */
    default CompletionStage<Void> refundLeases(List<LeaseRemainder> remainders) {
        return CompletableFuture.allOf(remainders.stream()
                .map(remainder -> remainder.unused().refund(remainder.permits()).toCompletableFuture())
                .toArray(CompletableFuture[]::new));
    }

    /** How many leases it can afford to refund now, beside the decisions it is asked for. */
    default int affordableRefunds() {
        return Integer.MAX_VALUE;
    }

    /** Whether it waits for nothing and nobody when it decides. */
    default boolean isNonBlocking() {
        return false;
    }

    /** What the charge would be told, were it made now. Changes nothing. */
    RateLimitDecision peek(Charge charge);

    /** Forgets a bucket: it is as if never used. */
    void reset(RateLimit limit, @Nullable String key);

    /**
     * Asks whether all of it could decide now, without blocking.
     *
     * @return completes with what is wrong, if something is
     */
    default CompletionStage<Void> check() {
        return CompletableFuture.completedFuture(null);
    }
}

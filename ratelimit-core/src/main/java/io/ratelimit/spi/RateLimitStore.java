package io.ratelimit.spi;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitStoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the buckets and decides. Implementations decide all charges of a request in one atomic step: either every limit is
 * charged or none is. A limit in {@linkplain RateLimit#dryRun() dry run} is the exception: it rejects nothing, and is
 * charged whenever its own permits are available.
 *
 * <p>A store that is a bean of the application decides limits of every {@link io.ratelimit.Scope}.
 *
 * <p>A store that cannot decide throws {@link RateLimitStoreException}, or completes with it.
 */
public interface RateLimitStore {

    /** The longest time that a blocking caller waits for an answer. A store fails earlier, by a timeout of its own. */
    Duration LONGEST = Duration.ofMinutes(1);

    /**
     * Decides, and charges if every limit allows it. A request that {@linkplain StoreRequest#isPeek() peeks} charges nothing.
     *
     * @return the outcome, or a way to wait for it: the caller takes it once, blocking or not
     */
    StoreAnswer decide(StoreRequest request);

    /**
     * Charges permits even if the bucket does not hold them: what a call turned out to cost beyond its estimate. A bucket in debt
     * rejects calls until enough permits are back. Does not block the caller.
     *
     * @param charge at most {@link RateLimit#MAX_CAPACITY} permits
     * @return completes with {@link RateLimitStoreException} if the store fails; by default with an
     *     {@link UnsupportedOperationException}: what calls have cost beyond their estimates is not charged then
     */
    default CompletionStage<Void> charge(Charge charge) {
        return CompletableFuture.failedFuture(
                new UnsupportedOperationException("The store cannot charge beyond the capacity"));
    }

    /**
     * Changes one bucket, as exactly as a decision does, or only looks at it. Does not block the caller.
     *
     * @param key {@code null}: the one bucket of all callers
     * @return the bucket after the change; completes with {@link RateLimitStoreException} if the store fails; by default with an
     *     {@link UnsupportedOperationException}, for which the endpoint answers 501
     */
    default CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("The store cannot change buckets"));
    }

    /** Returns whether decisions about this limit alone never wait for anything. */
    default boolean isNonBlocking(RateLimit limit) {
        return false;
    }

    /** Returns how many permits of a concurrency limit calls of this instance hold, of all keys together. */
    default long heldPermits(RateLimit limit) {
        return 0;
    }

    /**
     * Forgets what this instance knows of a bucket that another instance has changed or reset: remembered rejections, leased
     * permits, and permits that calls held before. The store itself knows of the change.
     *
     * @param limit the {@linkplain RateLimit#id() id} of the limit
     * @param keyDigest the {@link KeyDigest} of the key; of an empty text for the one bucket of all callers
     */
    default void forget(String limit, String keyDigest) {}

    /**
     * Checks without blocking whether the whole store can decide now.
     *
     * @return completes with the failure, if there is one
     */
    default CompletionStage<Void> check() {
        return CompletableFuture.completedFuture(null);
    }
}

package io.ratelimit;

import io.ratelimit.event.RateLimitChangedEvent;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Changes limits while the application runs. With {@code ratelimit.enabled=false}, every method of the
 * bean throws an {@link IllegalStateException}.
 *
 * <p>An override is kept in Redis and applies to all instances within a second, to those started later, and after restarts.
 * With {@code ratelimit.store=in-memory}, it applies to this instance. The permits that callers have used are kept.
 *
 * <p>Methods whose names end with {@code Async} never block, and all exceptions complete their stage. The others block for the
 * store, and throw an {@link IllegalStateException} on a thread that must not block, such as an event loop.
 *
 * <p>Every method that names a limit throws an {@link IllegalArgumentException} if there is no such limit.
 */
public interface RateLimitAdmin {

    /** An expected version that every version matches. */
    long ANY_VERSION = -1;

    /**
     * Returns the same, but records this principal as the author of changes: in the log, in events and in the override.
     *
     * @param principal cut to 200 characters; control characters are replaced by question marks
     */
    RateLimitAdmin as(String principal);

    /**
     * Returns the same for a plan: its overrides, which win over those of a limit, and buckets by its numbers. With it, every method
     * that names a limit throws an {@link IllegalArgumentException} if the limit has no such plan in the configuration.
     *
     * @param plan case and dashes are ignored
     */
    RateLimitAdmin forPlan(String plan);

    /** Returns the limit as this instance applies it. Does not ask the store. */
    RateLimitStatus status(String limit);

    /** Sets the override of a limit, whatever the present one is: {@link #override(String, RateLimitOverride, long)}. */
    default RateLimitStatus override(String limit, RateLimitOverride override) {
        return override(limit, override, ANY_VERSION);
    }

    /**
     * Sets the override of a limit, and replaces the present one as a whole. Invalid attributes change nothing.
     *
     * @param expectedVersion the {@link RateLimitStatus#version() version} of the present override, or {@link #ANY_VERSION}
     * @return the limit with the override
     * @throws RateLimitConfigurationException if the limit is invalid with these attributes, with the message that the same
     *     configuration has at start-up, if no attribute is set, or if the duration is not from 1 ms to 3650 days
     * @throws RateLimitConflictException if the present override has another version
     * @throws RateLimitStoreException if the store fails; the message says whether nothing was changed, or whether the answer was
     *     lost, so that the store may still make the change. Then there is an event of the kind
     *     {@link RateLimitChangedEvent.Kind#UNCONFIRMED}
     */
    RateLimitStatus override(String limit, RateLimitOverride override, long expectedVersion);

    /** Sets the override without blocking: see {@link #override(String, RateLimitOverride, long)}. */
    CompletionStage<RateLimitStatus> overrideAsync(String limit, RateLimitOverride override, long expectedVersion);

    /** Removes the override of a limit, whatever it is: {@link #removeOverride(String, long)}. */
    default RateLimitStatus removeOverride(String limit) {
        return removeOverride(limit, ANY_VERSION);
    }

    /**
     * Removes the override of a limit. Without one, it changes nothing.
     *
     * @param expectedVersion as for {@link #override(String, RateLimitOverride, long)}
     * @return the limit without an override
     * @throws RateLimitConflictException if the present override has another version
     * @throws RateLimitStoreException as for {@link #override(String, RateLimitOverride, long)}
     */
    RateLimitStatus removeOverride(String limit, long expectedVersion);

    /** Removes the override without blocking: see {@link #removeOverride(String, long)}. */
    CompletionStage<RateLimitStatus> removeOverrideAsync(String limit, long expectedVersion);

    /**
     * Returns the bucket of a key. Does not ask the store.
     *
     * @throws IllegalArgumentException if there is no such limit, or the key is null or empty
     */
    Bucket bucket(String limit, String key);

    /** Returns the one bucket of all callers, which a limit without a key has. */
    Bucket bucket(String limit);

    /**
     * Looks at one bucket and changes it. A change is as exact as a decision. Other instances forget what they know of the
     * bucket as soon as they are told, usually within milliseconds: remembered rejections, which they ask for again after a
     * second at the latest, and permits that they have leased. If they cannot be told, a block applies there when the leased
     * permits are used.
     *
     * <p>If the store fails, every method throws a {@link RateLimitStoreException} whatever {@link OnStoreFailure} is. If nothing
     * was changed for sure, such as without a connection or while the circuit breaker is open, the message says so. If the
     * change was sent and its answer was lost, such as by a timeout, the store may have made it, or may still make it when it goes
     * on: the message says that, one line at {@code WARN} has the limit, the author and the change, and there is a
     * {@link RateLimitChangedEvent} of the kind {@link RateLimitChangedEvent.Kind#UNCONFIRMED}. {@link #inspect} tells when the store
     * answers again. A store that is not the starter's may throw an {@link UnsupportedOperationException}.
     */
    interface Bucket {

        /** Returns the state of the bucket. Changes nothing. */
        BucketStatus inspect();

        /** Returns the state of the bucket without blocking. */
        CompletionStage<BucketStatus> inspectAsync();

        /**
         * Returns permits to the bucket, those that were taken last, until it is full.
         *
         * @return the bucket after the change
         * @throws IllegalArgumentException unless there are 1 to {@value RateLimit#MAX_CAPACITY} permits
         */
        BucketStatus grant(long permits);

        /** Returns permits without blocking: see {@link #grant}. */
        CompletionStage<BucketStatus> grantAsync(long permits);

        /**
         * Rejects every call from now on for this time, instead of any other block. It does not count as a violation.
         *
         * @return the bucket after the change
         * @throws IllegalArgumentException unless the time is positive and at most 365 days
         */
        BucketStatus block(Duration time);

        /** Blocks the key without blocking a thread: see {@link #block}. */
        CompletionStage<BucketStatus> blockAsync(Duration time);

        /**
         * Ends a block, and forgets earlier violations: the next one blocks for the first duration.
         *
         * @return the bucket after the change
         */
        BucketStatus unblock();

        /** Ends a block without blocking a thread: see {@link #unblock}. */
        CompletionStage<BucketStatus> unblockAsync();

        /** Fills the bucket and ends a block: deletes its state in the store. */
        void reset();

        /** Fills the bucket without blocking a thread: see {@link #reset}. */
        CompletionStage<Void> resetAsync();
    }

    /**
     * The state of one bucket of a limit. Times are exact to the microsecond, rounded up.
     *
     * @param capacity the maximum number of permits available at once
     * @param remaining the number of permits in the bucket, rounded down; while the key is blocked, no call can take them
     * @param resetAfter the time until the bucket is full again
     * @param blockedFor the time until the key is no longer blocked; zero: it is not blocked
     */
    record BucketStatus(long capacity, long remaining, Duration resetAfter, Duration blockedFor) {

        /** Returns whether every call with this key is rejected, however many permits there are. */
        public boolean isBlocked() {
            return !blockedFor.isZero();
        }
    }
}

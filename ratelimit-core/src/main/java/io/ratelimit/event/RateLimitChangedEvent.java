package io.ratelimit.event;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A limit, or a bucket of it, has changed while the application runs. Every instance has an event for a change of a limit; a
 * change of a bucket has one on the instance that made it. Contains no key.
 *
 * @param change what was changed: {@code capacity 50, rate 20/s}; empty if the kind says it all
 * @param until when the change ends by itself; {@code null}: it does not, or is {@link Kind#UNCONFIRMED}
 * @param principal the author, if known
 * @param madeHere whether this instance made the change; of all instances at most one did
 */
public record RateLimitChangedEvent(
        String limitName,
        Kind kind,
        String change,
        @Nullable Instant until,
        @Nullable String principal,
        boolean madeHere) {

    /** What happened. */
    public enum Kind {

        /** An override was set. */
        OVERRIDDEN,

        /** An override was removed, or is gone because Redis has lost its data. */
        OVERRIDE_REMOVED,

        /** An override has ended, because its duration is over. */
        OVERRIDE_ENDED,

        /** The configuration was read again, and has other values. */
        RECONFIGURED,

        /** A bucket was reset. */
        RESET,

        /** Permits were added to a bucket. */
        GRANTED,

        /** A bucket was blocked. */
        BLOCKED,

        /** A bucket was unblocked. */
        UNBLOCKED,

        /**
         * A change was sent, and its answer was lost: the store may have made it, may still make it, or not. If it makes a change of
         * a limit, every instance has an event of it; no other event follows a change of a bucket.
         */
        UNCONFIRMED
    }
}

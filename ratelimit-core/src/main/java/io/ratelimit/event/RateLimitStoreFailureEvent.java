package io.ratelimit.event;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Published as a Spring application event when the store becomes unable to decide, so that {@link OnStoreFailure} applies. A
 * failure of single buckets is none.
 *
 * @param reason that of the first failure
 * @param message the store's; never contains a key
 * @param since when the first call was not decided, or a check found it before
 * @param redis the name of the server, if limits are in several; {@code null}: there is only one
 */
public record RateLimitStoreFailureEvent(
        Reason reason,
        String message,
        Instant since,
        @Nullable String redis) {

    /** Creates the event of the only store. */
    public RateLimitStoreFailureEvent(Reason reason, String message, Instant since) {
        this(reason, message, since, null);
    }
}

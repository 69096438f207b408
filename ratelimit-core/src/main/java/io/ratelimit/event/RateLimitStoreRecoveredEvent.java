package io.ratelimit.event;

import io.ratelimit.OnStoreFailure;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Published as a Spring application event when the store decides again. A call or a health check finds that out.
 *
 * @param since when the outage began, as in its {@link RateLimitStoreFailureEvent}
 * @param calls how many calls were decided by {@link OnStoreFailure} meanwhile; costs charged after a call do not count
 * @param redis the name of the server, if limits are in several; {@code null}: there is only one
 */
public record RateLimitStoreRecoveredEvent(
        Instant since, long calls, @Nullable String redis) {

    /** Creates the event of the only store. */
    public RateLimitStoreRecoveredEvent(Instant since, long calls) {
        this(since, calls, null);
    }
}

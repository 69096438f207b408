package io.ratelimit;

import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Instant;

/**
 * Published as a Spring application event when the store becomes unable to decide, so that {@link OnStoreFailure} applies. A
 * failure of single buckets is none.
 *
 * @param reason that of the first failure
 * @param message the store's; never contains a key
 * @param since when the first call was not decided
 */
public record RateLimitStoreFailureEvent(Reason reason, String message, Instant since) {}

package io.ratelimit;

import java.time.Instant;

/**
 * Published as a Spring application event when the store decides again. A call or a health check finds that out.
 *
 * @param since when the outage began, as in its {@link RateLimitStoreFailureEvent}
 * @param calls how many calls were decided by {@link OnStoreFailure} meanwhile
 */
public record RateLimitStoreRecoveredEvent(Instant since, long calls) {}

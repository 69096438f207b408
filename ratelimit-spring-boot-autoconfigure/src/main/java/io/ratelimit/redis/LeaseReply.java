package io.ratelimit.redis;

import io.ratelimit.RateLimitDecision;

/**
 * What the script has said of a lease.
 *
 * @param decision of the call itself; what remains, and until when, is after all that was taken
 * @param more how many permits were taken in advance
 * @param receipt for the call's permits and these together
 */
record LeaseReply(RateLimitDecision decision, long more, Receipt receipt) {}

package io.ratelimit.web.client;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitDecision;

/**
 * Thrown by a call that is not sent, because the remote host has answered an earlier call with 429 or 503 and a
 * {@code Retry-After} that is not over. The decision's {@code retryAfter} is the time that is left, and its capacity is 0.
 */
public class RemoteRateLimitExceededException extends OutboundRateLimitExceededException {

    private static final long serialVersionUID = 1L;

    RemoteRateLimitExceededException(String limitName, long micros) {
        super(limitName, RateLimitDecision.ofMicros(0, 0, 0, micros, micros));
    }

    @Override
    public String getMessage() {
        return "The remote host of rate limit '" + getLimitName() + "' has asked to be called later (Retry-After)";
    }
}

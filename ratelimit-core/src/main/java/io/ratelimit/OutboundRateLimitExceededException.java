package io.ratelimit;

/**
 * Thrown by a call to another application that a limit rejects, so that a caller of this application is not told that it has
 * called too often. Over HTTP it is a 503 by default.
 */
public class OutboundRateLimitExceededException extends RateLimitExceededException {

    private static final long serialVersionUID = 1L;

    protected OutboundRateLimitExceededException(String limitName, RateLimitDecision decision) {
        super(limitName, decision);
    }

    private OutboundRateLimitExceededException(RateLimitExceededException rejection) {
        super(rejection.getLimitNames(), rejection.getDecision(), rejection.getLimit());
    }

    /** Returns the rejection as one of a call to another application. */
    public static OutboundRateLimitExceededException of(RateLimitExceededException rejection) {
        return rejection instanceof OutboundRateLimitExceededException outbound
                ? outbound
                : new OutboundRateLimitExceededException(rejection);
    }
}

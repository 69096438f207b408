package io.ratelimit;

/**
 * A call was refused because the store cannot decide and {@link OnStoreFailure#REJECT} says so. Over HTTP a 503: the
 * caller did nothing wrong.
 */
public class RateLimitRefusedException extends RateLimitStoreException {

    private static final long serialVersionUID = 1L;

    public RateLimitRefusedException(RateLimitStoreException failure) {
        super(failure.getReason(), "Refused, because the rate limit cannot be decided", failure);
    }
}

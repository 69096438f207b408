package io.ratelimit;

/**
 * Thrown by a call if the store fails and {@code on-store-failure} is {@link OnStoreFailure#REJECT}. The HTTP response is a
 * 503, because the client did nothing wrong.
 */
public class RateLimitRefusedException extends RateLimitStoreException {

    private static final long serialVersionUID = 1L;

    public RateLimitRefusedException(RateLimitStoreException failure) {
        super(failure.getReason(), "Refused, because the rate limit cannot be decided", failure);
    }
}

package io.ratelimit.internal.store;

import io.ratelimit.Internal;
import io.ratelimit.RateLimitStoreException;
import org.jspecify.annotations.Nullable;

/** Thrown by a change of a bucket or a limit that was certainly not made: it was not sent, or the server has refused it. */
@Internal
public final class BucketUnchangedException extends RateLimitStoreException {

    private static final long serialVersionUID = 1L;

    public BucketUnchangedException(RateLimitStoreException failure) {
        super(failure.getReason(), sentence(failure.getMessage()) + " Nothing was changed.", failure);
    }

    private static String sentence(@Nullable String message) {
        return message == null || message.endsWith(".") ? String.valueOf(message) : message + ".";
    }
}

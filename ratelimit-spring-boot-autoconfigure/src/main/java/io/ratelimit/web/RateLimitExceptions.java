package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import org.jspecify.annotations.Nullable;

/** Finds the exception of a rate limit among a failure and its causes. */
public final class RateLimitExceptions {

    /** Ends the search, because causes can be circular. */
    private static final int MAX_DEPTH = 32;

    private RateLimitExceptions() {}

    /** Returns the failure, or the first of its causes, that a rate limit has thrown; {@code null} if there is none. */
    public static @Nullable RuntimeException find(Throwable failure) {
        Throwable next = failure;
        for (int depth = 0; next != null && depth < MAX_DEPTH; depth++) {
            if (next instanceof RateLimitExceededException exceeded) {
                return exceeded;
            }
            if (next instanceof RateLimitRefusedException refused) {
                return refused;
            }
            if (next instanceof MissingRateLimitKeyException missing) {
                return missing;
            }
            next = next.getCause();
        }
        return null;
    }
}

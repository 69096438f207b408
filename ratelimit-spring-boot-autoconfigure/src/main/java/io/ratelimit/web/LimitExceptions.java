package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import org.jspecify.annotations.Nullable;

/** Tells what limits throw from other failures. */
public final class LimitExceptions {

    /** More than anybody wraps; causes may go round in a circle. */
    private static final int DEPTH = 32;

    private LimitExceptions() {}

    /** The failure, or the first of its causes, that a limit has thrown; {@code null}: none of them. */
    static @Nullable public RuntimeException among(Throwable failure) {
        Throwable next = failure;
        for (int depth = 0; next != null && depth < DEPTH; depth++) {
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

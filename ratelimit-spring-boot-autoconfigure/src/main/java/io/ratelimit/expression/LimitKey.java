package io.ratelimit.expression;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;

/** Determines the key of a call, by an expression or by a bean. */
interface LimitKey {

    /**
     * Returns the key of a call.
     *
     * @throws MissingRateLimitKeyException if the key is null or empty
     */
    String key(Evaluation evaluation, RateLimit limit);

    /** Describes the key for the log. */
    String text();

    /** Returns whether an expression names the principal. */
    default boolean namesPrincipal() {
        return false;
    }
}

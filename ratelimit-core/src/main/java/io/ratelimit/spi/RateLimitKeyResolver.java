package io.ratelimit.spi;

import org.jspecify.annotations.Nullable;

/**
 * Determines the key of calls, instead of a key expression. A limit uses the bean that {@code keyResolver} or
 * {@code ratelimit.limits.<name>.key-resolver} names:
 *
 * <pre>{@code
 * @Bean
 * RateLimitKeyResolver tenantKey() {
 *     return call -> call.header("X-Tenant");
 * }
 * }</pre>
 */
@FunctionalInterface
public interface RateLimitKeyResolver {

    /**
     * Returns the key of a call: a text, a number, a {@link java.security.Principal} (its name), or any object whose class
     * defines {@code toString}. If it is null or empty, the call fails with a {@link io.ratelimit.MissingRateLimitKeyException}. Must not
     * block, because it may be called on an event loop.
     *
     * <p>If it throws, the call fails: with a {@link io.ratelimit.RateLimitInputException} (over HTTP a 400) for exceptions such as
     * {@link IllegalArgumentException} and {@link NullPointerException}, which a value of the caller may have caused, otherwise with a
     * {@link io.ratelimit.RateLimitExpressionException} (a 500).
     */
    @Nullable
    Object resolve(RateLimitKeyContext call);
}

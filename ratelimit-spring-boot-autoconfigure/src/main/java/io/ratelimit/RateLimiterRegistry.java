package io.ratelimit;

/** All limits of the application: of annotations, of {@link RateLimit} beans and of {@code ratelimit.limits}. */
public interface RateLimiterRegistry {

    /**
     * The limiter of this name, case and dashes aside.
     *
     * @throws IllegalArgumentException if no limit bears it; the message names the nearest
     */
    RateLimiter get(String name);
}

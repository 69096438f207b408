package io.ratelimit.web;

/** The rate limit headers that responses carry. */
public enum HeaderFormat {

    /** {@code RateLimit-Policy} and {@code RateLimit}, with a member for each limit. */
    IETF,

    /** {@code X-RateLimit-Limit}, {@code -Remaining} and {@code -Reset}, of the tightest limit. */
    LEGACY,

    BOTH,

    NONE;

    public boolean ietf() {
        return this == IETF || this == BOTH;
    }

    public boolean legacy() {
        return this == LEGACY || this == BOTH;
    }
}

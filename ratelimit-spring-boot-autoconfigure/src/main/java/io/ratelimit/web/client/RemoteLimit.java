package io.ratelimit.web.client;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;

/**
 * The limit of calls to remote hosts, and the pauses that they have asked for.
 *
 * @param name the limit's name
 * @param maxWait the longest time that a call waits for the end of a pause
 */
record RemoteLimit(String name, RateLimiter limiter, RemotePauses pauses, Waiter waiter, Duration maxWait) {

    RemoteLimit(String name, RateLimiter limiter) {
        this(name, limiter, new RemotePauses(TimeSource.monotonic()), Waiter.parking(), Duration.ZERO);
    }

    RemoteLimit withMaxWait(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative (was " + DurationText.of(time) + ")");
        }
        return new RemoteLimit(name, limiter, pauses, waiter, time);
    }

    /** @throws OutboundRateLimitExceededException if the limit rejects the call */
    void acquire(String key) {
        try {
            limiter.acquire(key);
        } catch (RateLimitExceededException rejection) {
            throw OutboundRateLimitExceededException.of(rejection);
        }
    }

    /**
     * Returns the time to wait for the end of a pause.
     *
     * @param patience the longest time that the call waits
     * @throws RemoteRateLimitExceededException if the pause is longer
     */
    Duration pause(String key, Duration patience) {
        long micros = pauses.left(key);
        if (micros == 0) {
            return Duration.ZERO;
        }
        Duration left = Duration.ofNanos(micros * 1_000);
        if (left.compareTo(patience) > 0) {
            throw new RemoteRateLimitExceededException(name, micros);
        }
        return left;
    }

    /** Returns the host of a URL, with its port unless that is the default of the scheme; empty if the URL has no host. */
    static String host(URI url) {
        String host = url.getHost();
        if (host == null) {
            // Not a host name by RFC 2396, such as one with an underscore.
            String authority = url.getRawAuthority();
            return authority == null
                    ? ""
                    : authority.substring(authority.lastIndexOf('@') + 1).toLowerCase(Locale.ROOT);
        }
        int port = url.getPort();
        int standard = "https".equalsIgnoreCase(url.getScheme()) ? 443 : 80;
        return host.toLowerCase(Locale.ROOT) + (port == -1 || port == standard ? "" : ":" + port);
    }
}

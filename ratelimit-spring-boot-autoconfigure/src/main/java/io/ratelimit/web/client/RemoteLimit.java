package io.ratelimit.web.client;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * The limit of calls to remote hosts, and the pauses that they have asked for.
 *
 * @param name the limit's name
 * @param maxWait the longest time that a call waits for the end of a pause
 */
record RemoteLimit(String name, RateLimiterRegistry registry, RemotePauses pauses, Waiter waiter, Duration maxWait) {

    static final Runnable NO_REFUND = () -> {};

    /** @throws IllegalArgumentException if there is no such limit */
    RemoteLimit {
        var unused = registry.get(name);
    }

    RemoteLimit(String name, RateLimiterRegistry registry) {
        this(name, registry, new RemotePauses(TimeSource.monotonic()), Waiter.parking(), Duration.ZERO);
    }

    RemoteLimit withMaxWait(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative (was " + DurationText.of(time) + ")");
        }
        return new RemoteLimit(name, registry, pauses, waiter, time);
    }

    RateLimiter limiter() {
        return registry.get(name);
    }

    /**
     * Takes a permit.
     *
     * @return refunds it, for a call that is not sent
     * @throws OutboundRateLimitExceededException if the limit rejects the call
     */
    Runnable acquire(String key) {
        try {
            return acquireRefundable(key);
        } catch (RateLimitExceededException rejection) {
            throw OutboundRateLimitExceededException.of(rejection);
        }
    }

    private Runnable acquireRefundable(String key) {
        try {
            return refund(registry.enterAll(refundable(key)));
        } catch (IllegalStateException ex) {
            // A lease cannot be refunded. Other reasons are thrown again.
            limiter().acquire(key);
            return NO_REFUND;
        }
    }

    List<PermitRequest> refundable(String key) {
        return List.of(new PermitRequest(name, key).asEstimate());
    }

    Runnable refund(RateLimiter.Entry entry) {
        return () -> entry.settle(name, 0);
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

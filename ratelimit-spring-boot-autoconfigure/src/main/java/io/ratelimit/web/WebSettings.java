package io.ratelimit.web;

import io.ratelimit.OutboundRateLimitExceededException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.internal.concurrent.OnceAMinute;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.spi.TimeSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;

/** Holds what both web stacks share: the response headers, client addresses and the answers to rate limit exceptions. */
public final class WebSettings {

    /** Ends the search, because causes can be circular. */
    private static final int MAX_CAUSES = 32;

    private final RateLimitHeaders headers;

    private final ClientAddressNormalizer clientAddresses;

    private final HttpStatusCode invalidRequestStatus;

    private final HttpStatusCode outboundStatus;

    private final LimitCatalog limits;

    private final InvalidRequestLog invalidRequestLog = new InvalidRequestLog(new OnceAMinute(System::nanoTime));

    /**
     * Creates the settings from the properties {@code ratelimit.web}.
     *
     * @param ipv6Prefix the number of leading bits of an IPv6 address that identify the caller's network, 1 to 128
     * @param invalidRequestStatus the status of the response to a request without a key, or with a value that a limit cannot use
     * @param outboundStatus the status of the response to a request during which a call to another application was rejected
     * @param time of this instance
     */
    public WebSettings(
            HeaderFormat headers,
            int ipv6Prefix,
            int invalidRequestStatus,
            int outboundStatus,
            LimitCatalog limits,
            TimeSource time) {
        this.headers = new RateLimitHeaders(headers, time);
        this.clientAddresses = new ClientAddressNormalizer(ipv6Prefix);
        this.invalidRequestStatus = HttpStatusCode.valueOf(invalidRequestStatus);
        this.outboundStatus = HttpStatusCode.valueOf(outboundStatus);
        this.limits = limits;
    }

    public RateLimitHeaders headers() {
        return headers;
    }

    /**
     * Returns the caller's address, or its network if the address is an IPv6 address.
     *
     * @param reported the address that the container reports
     */
    public String clientAddress(@Nullable String reported) {
        return clientAddresses.normalize(reported);
    }

    /** Returns the failure, or the first of its causes, that a rate limit answers; {@code null} if there is none. */
    public @Nullable RateLimitException find(Throwable failure) {
        Throwable next = failure;
        for (int depth = 0; next != null && depth < MAX_CAUSES; depth++) {
            if (next instanceof RateLimitException exception && status(exception) != null) {
                return exception;
            }
            next = next.getCause();
        }
        return null;
    }

    /** Returns the status of the response to an exception; {@code null} if the application or Spring answers it. */
    @Nullable
    public HttpStatusCode status(@Nullable RateLimitException exception) {
        if (exception instanceof OutboundRateLimitExceededException) {
            return outboundStatus;
        }
        if (exception instanceof RateLimitExceededException) {
            return HttpStatus.TOO_MANY_REQUESTS;
        }
        if (exception instanceof RateLimitRefusedException) {
            return HttpStatus.SERVICE_UNAVAILABLE;
        }
        if (exception instanceof RateLimitInputException) {
            return invalidRequestStatus;
        }
        return exception instanceof RateLimitExpressionException ? HttpStatus.INTERNAL_SERVER_ERROR : null;
    }

    /** Logs a failure whose answer has this status. */
    void log(RateLimitExpressionException failure, HttpStatusCode status) {
        invalidRequestLog.log(failure, Integer.toString(status.value()));
    }

    /** Returns the caller's quota under the limit that rejects it; empty if the caller is not told of it. */
    Optional<QuotaStatus> quotaStatus(RateLimitExceededException rejection) {
        return Optional.ofNullable(rejection.getLimit())
                .or(() -> limits.find(rejection.getLimitName()))
                .filter(limit -> HttpStatus.TOO_MANY_REQUESTS.equals(status(rejection)))
                .map(limit -> new QuotaStatus(limit, rejection.getDecision()));
    }
}

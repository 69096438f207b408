package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.limiter.LimitCatalog;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;

/** What requests and responses of both kinds have in common: which fields are sent, who a caller is, and who is none. */
public final class WebSettings {

    private final RateLimitHeaders fields;

    private final ClientAddress addresses;

    private final MissingKeys missingKeys;

    private final LimitCatalog limits;

    /**
     * @param ipv6Prefix how many bits of an IPv6 address are the caller's network, 1 to 128
     * @param missingKeyStatus of the answer to a request without a key
     */
    public WebSettings(HeaderFormat headers, int ipv6Prefix, int missingKeyStatus, LimitCatalog limits) {
        this.fields = new RateLimitHeaders(headers);
        this.addresses = new ClientAddress(ipv6Prefix);
        this.missingKeys = new MissingKeys(missingKeyStatus, System::nanoTime);
        this.limits = limits;
    }

    public RateLimitHeaders fields() {
        return fields;
    }

    /** How a caller stands with the limit that rejects it. */
    Optional<QuotaStatus> standing(RateLimitExceededException rejection) {
        return limits.find(rejection.getLimitName()).map(limit -> new QuotaStatus(limit, rejection.getDecision()));
    }

    /** Of the answer to what a limit has thrown; {@code null}: it is no failure of a limit. */
    @Nullable
    public HttpStatusCode status(@Nullable RuntimeException ours) {
        if (ours instanceof RateLimitExceededException) {
            return HttpStatus.TOO_MANY_REQUESTS;
        }
        if (ours instanceof RateLimitRefusedException) {
            return HttpStatus.SERVICE_UNAVAILABLE;
        }
        return ours instanceof MissingRateLimitKeyException ? missingKeys.status() : null;
    }

    MissingKeys missingKeys() {
        return missingKeys;
    }

    public ClientAddress addresses() {
        return addresses;
    }
}

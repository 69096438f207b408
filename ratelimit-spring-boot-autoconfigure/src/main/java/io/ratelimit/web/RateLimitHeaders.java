package io.ratelimit.web;

import io.ratelimit.RateLimit;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * The fields that tell a caller how it stands. The key is in none of them.
 *
 * @see <a href="https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11">RateLimit header fields for
 *     HTTP</a>
 */
public final class RateLimitHeaders {

    private final HeaderFormat headers;

    private final Map<RateLimit, LimitText> texts = new ConcurrentHashMap<>();

    RateLimitHeaders(HeaderFormat headers) {
        this.headers = headers;
    }

    /**
     * Writes the headers of decisions.
     *
     * @param response sets a field, whatever it was before
     */
    public void write(List<QuotaStatus> standings, BiConsumer<String, String> response) {
        if (standings.isEmpty()) {
            return;
        }
        if (headers.ietf()) {
            writeIetf(standings, response);
        }
        if (headers.legacy()) {
            writeLegacy(Collections.min(standings, QuotaStatus.TIGHTEST_FIRST), response);
        }
    }

    private void writeIetf(List<QuotaStatus> standings, BiConsumer<String, String> response) {
        StringBuilder policies = new StringBuilder();
        StringBuilder limits = new StringBuilder();
        String separator = "";
        for (QuotaStatus standing : standings) {
            LimitText text = texts.computeIfAbsent(standing.limit(), LimitText::of);
            policies.append(separator).append(text.policy());
            limits.append(separator)
                    .append(text.name())
                    .append(";r=")
                    .append(standing.decision().remaining())
                    .append(";t=")
                    .append(standing.seconds());
            separator = ", ";
        }
        response.accept("RateLimit-Policy", policies.toString());
        response.accept("RateLimit", limits.toString());
    }

    private static void writeLegacy(QuotaStatus tightest, BiConsumer<String, String> response) {
        response.accept("X-RateLimit-Limit", Long.toString(tightest.decision().capacity()));
        response.accept(
                "X-RateLimit-Remaining", Long.toString(tightest.decision().remaining()));
        response.accept("X-RateLimit-Reset", Long.toString(tightest.seconds()));
    }

    /** What is the same in every response. Names have no character that would have to be escaped. */
    private record LimitText(String name, String policy) {

        static LimitText of(RateLimit limit) {
            String name = '"' + limit.name() + '"';
            return new LimitText(
                    name, name + ";q=" + limit.capacity() + ";w=" + WholeSeconds.ofMicros(limit.fullMicros()));
        }
    }
}

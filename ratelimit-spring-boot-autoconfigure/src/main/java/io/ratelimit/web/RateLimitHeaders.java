package io.ratelimit.web;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limit.CalendarWindows;
import io.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Calculates the headers {@code RateLimit} and {@code X-RateLimit} from what limits have decided, and the seconds of
 * {@code Retry-After}. They never contain the key.
 *
 * @see <a href="https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11">RateLimit header fields for
 *     HTTP</a>
 */
public final class RateLimitHeaders {

    private final HeaderFormat format;

    private final TimeSource time;

    /** By the id of the limit, whose numbers can change. */
    private final Map<String, LimitText> texts = new ConcurrentHashMap<>();

    /** @param time tells which window of a calendar is the present one; may be wrong by nearly half a window */
    RateLimitHeaders(HeaderFormat format, TimeSource time) {
        this.format = format;
        this.time = time;
    }

    /**
     * Writes the headers of decisions.
     *
     * @param response sets a header, and replaces its value
     */
    void write(List<QuotaStatus> statuses, BiConsumer<String, String> response) {
        if (statuses.isEmpty()) {
            return;
        }
        if (format.ietf()) {
            writeIetf(statuses, response);
        }
        if (format.legacy()) {
            writeLegacy(Collections.min(statuses, QuotaStatus.TIGHTEST_FIRST), response);
        }
    }

    private void writeIetf(List<QuotaStatus> statuses, BiConsumer<String, String> response) {
        StringBuilder policies = new StringBuilder();
        StringBuilder limits = new StringBuilder();
        String separator = "";
        for (QuotaStatus status : statuses) {
            LimitText text = text(status);
            policies.append(separator).append(text.policy());
            limits.append(separator)
                    .append(text.name())
                    .append(";r=")
                    .append(status.decision().remaining());
            if (status.limit().hasRate()) {
                limits.append(";t=").append(wholeSeconds(status.window()));
            }
            separator = ", ";
        }
        response.accept("RateLimit-Policy", policies.toString());
        response.accept("RateLimit", limits.toString());
    }

    private LimitText text(QuotaStatus status) {
        RateLimit limit = status.limit();
        long window = windowMicros(status);
        LimitText known = texts.get(limit.id());
        if (known != null && known.limit == limit && known.windowMicros == window) {
            return known;
        }
        LimitText text = LimitText.of(limit, window);
        texts.put(limit.id(), text);
        return text;
    }

    private long windowMicros(QuotaStatus status) {
        CalendarWindows calendar = status.limit().numbers().calendar();
        return calendar == null
                ? status.limit().fullMicros()
                : calendar.current(time.micros(), micros(status.decision().resetAfter()))
                        .micros();
    }

    private static long micros(Duration duration) {
        return duration.toSeconds() * 1_000_000 + duration.toNanosPart() / 1_000;
    }

    private static void writeLegacy(QuotaStatus tightest, BiConsumer<String, String> response) {
        response.accept("X-RateLimit-Limit", Long.toString(tightest.decision().capacity()));
        response.accept(
                "X-RateLimit-Remaining", Long.toString(tightest.decision().remaining()));
        response.accept("X-RateLimit-Reset", Long.toString(wholeSeconds(tightest.window())));
    }

    /** Returns the value of {@code Retry-After}. */
    public static String retryAfter(Duration time) {
        return Long.toString(Math.max(1, wholeSeconds(time)));
    }

    /** Rounds up, so that a caller that waits this long is not early. */
    static long wholeSeconds(Duration time) {
        return time.toSeconds() + (time.toNanosPart() == 0 ? 0 : 1);
    }

    /** The text that is the same in every response. Names contain no character that would have to be escaped. */
    private record LimitText(RateLimit limit, long windowMicros, String name, String policy) {

        static LimitText of(RateLimit limit, long windowMicros) {
            String name = '"' + limit.name() + '"';
            Duration window = Duration.of(windowMicros, ChronoUnit.MICROS);
            String ofRate = limit.hasRate() ? ";w=" + wholeSeconds(window) : "";
            return new LimitText(limit, windowMicros, name, name + ";q=" + limit.capacity() + ofRate);
        }
    }
}

package io.ratelimit.web.client;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * Reads {@code Retry-After}: seconds, or a date, which is compared with the {@code Date} of the response, so that the clocks
 * of the hosts may differ.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9110#name-retry-after">RFC 9110, Retry-After</a>
 */
final class RetryAfter {

    /** A longer time is cut to this, so that a mistake of the remote host ends. */
    private static final long LONGEST_SECONDS = 3_600;

    private static final Pattern SECONDS = Pattern.compile("0*(\\d+)");

    private RetryAfter() {}

    /**
     * Returns the time in microseconds; 0 if there is none, it is over, or it cannot be read.
     *
     * @param now microseconds since the epoch, for responses without a {@code Date}
     */
    static long micros(HttpHeaders headers, long now) {
        String value = headers.getFirst(HttpHeaders.RETRY_AFTER);
        long seconds = value == null ? 0 : seconds(value.strip(), headers, now);
        return Math.max(0, Math.min(seconds, LONGEST_SECONDS)) * 1_000_000;
    }

    private static long seconds(String value, HttpHeaders headers, long now) {
        Matcher number = SECONDS.matcher(value);
        if (number.matches()) {
            String digits = number.group(1);
            return digits.length() > 9 ? LONGEST_SECONDS : Long.parseLong(digits);
        }
        Instant until = date(headers, HttpHeaders.RETRY_AFTER);
        if (until == null) {
            return 0;
        }
        Instant sent = date(headers, HttpHeaders.DATE);
        return ChronoUnit.SECONDS.between(sent == null ? Instant.EPOCH.plus(now, ChronoUnit.MICROS) : sent, until);
    }

    private static @Nullable Instant date(HttpHeaders headers, String name) {
        try {
            var date = headers.getFirstZonedDateTime(name);
            return date == null ? null : date.toInstant();
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }
}

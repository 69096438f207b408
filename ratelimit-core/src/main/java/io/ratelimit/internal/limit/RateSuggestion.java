package io.ratelimit.internal.limit;

import java.math.BigInteger;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Suggests a rate for a text that is none: {@code 3/2s} for {@code 1.5/s}, {@code 10/m} for {@code 10 per minute}. */
public final class RateSuggestion {

    private static final Pattern LENIENT = Pattern.compile(
            "(\\d{1,9})(?:\\.(\\d{1,6}))?(?:\\s*(?:/|per\\b|an?\\b|every\\b|in\\b)\\s*([1-9]\\d{0,8})?\\s*([a-z]+))?");

    private static final Map<Pattern, String> UNITS = Map.of(
            Pattern.compile("us|mic(ro)?s?(econds?)?"), "us",
            Pattern.compile("ms|msecs?|milli(s|seconds?)?"), "ms",
            Pattern.compile("s|secs?|seconds?"), "s",
            Pattern.compile("m|mins?|minutes?"), "m",
            Pattern.compile("h|hrs?|hours?"), "h",
            Pattern.compile("d|days?"), "d",
            Pattern.compile("w|weeks?"), "week",
            Pattern.compile("months?"), "month",
            Pattern.compile("y|years?"), "year");

    private static final Pattern SEVERAL_CALENDAR_UNITS = Pattern.compile(".*\\d(week|month|year)");

    private RateSuggestion() {}

    /** Returns a suggestion, or empty if the text does not resemble a rate. */
    public static Optional<String> of(String text) {
        Matcher matcher = LENIENT.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return Optional.empty();
        }
        String unit = matcher.group(4) == null ? "s" : matcher.group(4);
        return UNITS.entrySet().stream()
                .filter(known -> known.getKey().matcher(unit).matches())
                .map(known -> rate(matcher, known.getValue()))
                .filter(rate -> !rate.startsWith("0/")
                        && !SEVERAL_CALENDAR_UNITS.matcher(rate).matches())
                .findFirst();
    }

    private static String rate(Matcher matcher, String unit) {
        String decimals = matcher.group(2) == null ? "" : matcher.group(2);
        BigInteger permits = new BigInteger(matcher.group(1) + decimals);
        BigInteger period =
                new BigInteger((matcher.group(3) == null ? "1" : matcher.group(3)) + "0".repeat(decimals.length()));
        BigInteger divisor = decimals.isEmpty() ? BigInteger.ONE : permits.gcd(period);
        BigInteger amount = period.divide(divisor);
        return permits.divide(divisor) + "/" + (amount.equals(BigInteger.ONE) ? "" : amount) + unit;
    }
}

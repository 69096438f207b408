package io.ratelimit.internal.limit;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** Validates, compares and suggests names. Names match as in Spring Boot properties: case and dashes are ignored. */
public final class LimitNames {

    private static final Pattern SYNTAX = Pattern.compile("[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*");

    private LimitNames() {}

    /** Returns whether a name consists of letters, digits, {@code -} and {@code _}, with a letter or a digit. */
    public static boolean isValid(String name) {
        return SYNTAX.matcher(name).matches();
    }

    /** Returns the same text for all spellings of a name. */
    public static String canonical(String name) {
        return name.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
    }

    /** Returns each name once, in its longest spelling: the one with dashes, which environment variables do not have. */
    public static Collection<String> distinct(Collection<String> names) {
        Map<String, String> longest = new LinkedHashMap<>();
        names.forEach(
                name -> longest.merge(canonical(name), name, (one, same) -> one.length() < same.length() ? same : one));
        return longest.values();
    }

    /** Converts {@code QuoteController} to {@code quote-controller}. */
    public static String kebabCase(String camelCase) {
        return camelCase
                .replaceAll("([a-z0-9])([A-Z])", "$1-$2")
                .replaceAll("([A-Z]+)([A-Z][a-z])", "$1-$2")
                .replaceAll("[^A-Za-z0-9]+", "-")
                .toLowerCase(Locale.ROOT);
    }

    /** Returns the most similar candidate, if one is similar enough to suggest it. */
    public static Optional<String> nearest(String name, Collection<String> candidates) {
        String wanted = canonical(name);
        return candidates.stream()
                .filter(candidate -> distance(wanted, canonical(candidate)) <= tolerance(wanted, canonical(candidate)))
                .min(Comparator.comparingInt(candidate -> distance(wanted, canonical(candidate))));
    }

    /**
     * Suggests the most similar candidate.
     *
     * @param spelling how the suggestion spells a candidate
     * @return {@code "Did you mean …? "}, or an empty text
     */
    public static String didYouMean(String name, Collection<String> candidates, UnaryOperator<String> spelling) {
        return nearest(name, candidates)
                .map(nearest -> "Did you mean " + spelling.apply(nearest) + "? ")
                .orElse("");
    }

    /** Suggests the most similar of the known names, or lists them, to continue a sentence about an unknown one. */
    public static String suggestion(String name, Collection<String> known) {
        return nearest(name, known)
                .map(nearest -> "; did you mean '" + nearest + "'?")
                .orElse("; known are " + known);
    }

    /** Limits the edits to half of the letters, so that no short name is taken for a misspelling of another. */
    private static int tolerance(String wanted, String candidate) {
        return Math.min(Math.max(2, wanted.length() / 3), Math.max(wanted.length(), candidate.length()) / 2);
    }

    /** Returns the Levenshtein distance. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}

package io.ratelimit;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** How limits are named and their names compared: as Spring Boot does it, case and dashes aside. */
public final class LimitNames {

    private static final Pattern SYNTAX = Pattern.compile("[A-Za-z0-9_-]*[A-Za-z0-9][A-Za-z0-9_-]*");

    private LimitNames() {}

    static boolean isValid(String name) {
        return SYNTAX.matcher(name).matches();
    }

    /** Two names mean the same limit if this is equal. */
    public static String canonical(String name) {
        return name.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
    }

    /** {@code QuoteController} becomes {@code quote-controller}. */
    public static String kebabCase(String camelCase) {
        return camelCase
                .replaceAll("([a-z0-9])([A-Z])", "$1-$2")
                .replaceAll("([A-Z]+)([A-Z][a-z])", "$1-$2")
                .replaceAll("[^A-Za-z0-9]+", "-")
                .toLowerCase(Locale.ROOT);
    }

    /** The candidate that was probably meant, if one is near enough. */
    public static Optional<String> nearest(String name, Collection<String> candidates) {
        String wanted = canonical(name);
        return candidates.stream()
                .filter(candidate -> distance(wanted, canonical(candidate)) <= tolerance(wanted, canonical(candidate)))
                .min(Comparator.comparingInt(candidate -> distance(wanted, canonical(candidate))));
    }

    /** At least half of the letters stay: of two short names, neither is a misspelling of the other. */
    private static int tolerance(String wanted, String candidate) {
        return Math.min(Math.max(2, wanted.length() / 3), Math.max(wanted.length(), candidate.length()) / 2);
    }

    /** Levenshtein's. */
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

package io.ratelimit.benchmarks.results;

import java.util.Locale;

/** Formats numbers with three digits or so. */
final class Numbers {

    private Numbers() {}

    static String format(double value) {
        double size = Math.abs(value);
        String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }
}

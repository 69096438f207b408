package io.ratelimit.internal.limit;

import java.time.Duration;

/** Formats durations for messages, as a configuration has them. */
public final class DurationText {

    private static final long DAY = 86_400;

    private static final long HOUR = 3_600;

    private static final long MINUTE = 60;

    private DurationText() {}

    /** Formats a duration in the largest unit that divides it: {@code 500ms}, {@code 90s}, {@code 366d}. */
    public static String of(Duration duration) {
        return duration.toNanosPart() == 0 ? ofSeconds(duration.toSeconds()) : ofPart(duration);
    }

    private static String ofSeconds(long seconds) {
        if (seconds % MINUTE != 0 || seconds == 0) {
            return seconds + "s";
        }
        if (seconds % HOUR != 0) {
            return seconds / MINUTE + "m";
        }
        return seconds % DAY == 0 ? seconds / DAY + "d" : seconds / HOUR + "h";
    }

    private static String ofPart(Duration duration) {
        int part = duration.toNanosPart();
        try {
            if (part % 1_000_000 == 0) {
                return duration.toMillis() + "ms";
            }
            long nanos = duration.toNanos();
            return part % 1_000 == 0 ? nanos / 1_000 + "us" : nanos + "ns";
        } catch (ArithmeticException ex) {
            return duration.toString();
        }
    }
}

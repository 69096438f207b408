package io.ratelimit.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Leaves out of the output what clients of earlier tests may still log in the background, with stack traces. */
public final class ForegroundLog {

    /** Begins a record: by Spring Boot's format, Logback's or that of the JDK. */
    private static final Pattern BEGIN = Pattern.compile(
            "(\\d{4}-\\d{2}-\\d{2}T|\\d{2}:\\d{2}:\\d{2}\\.\\d{3} \\[|[A-Z][a-z]{2} \\d{1,2}, \\d{4} ).*");

    /** Drivers that connect again, or are shut down, and our watchdog. */
    private static final Pattern BACKGROUND =
            Pattern.compile("Watchdog|io\\.ratelimit\\.watchdog|TopologyRefresh|rejectedExecution");

    private ForegroundLog() {}

    public static String of(CharSequence output) {
        List<String> left = new ArrayList<>();
        boolean background = false;
        for (String line : output.toString().lines().toList()) {
            if (BEGIN.matcher(line).matches()) {
                background = BACKGROUND.matcher(line).find();
            }
            if (!background) {
                left.add(line);
            }
        }
        return String.join("\n", left);
    }
}

package io.ratelimit.testing;

import java.util.stream.Collectors;

/** Leaves out of the log what clients of earlier tests may still say in the background. */
public final class ForegroundLog {

    private ForegroundLog() {}

    public static String of(CharSequence output) {
        return output.toString()
                .lines()
                .filter(line -> !line.contains("Watchdog")
                        && !line.contains("io.ratelimit.watchdog")
                        && !line.contains("TopologyRefresh"))
                .collect(Collectors.joining("\n"));
    }
}

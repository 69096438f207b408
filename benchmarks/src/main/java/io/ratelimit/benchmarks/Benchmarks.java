package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.redis.EmbeddedRedis;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.results.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Runs everything, or one line of it, and writes the results. See {@code benchmarks/run.sh}. */
public final class Benchmarks {

    private static final Path RESULTS = Path.of("benchmarks", "RESULTS.md");

    /** Not everything, or not for long: not to be kept. */
    private static final Path LOOK = Path.of("benchmarks", "target", "RESULTS.md");

    private Benchmarks() {}

    /** With {@code --quick}, or {@code --only <line>}, or all of it. */
    public static void main(String[] args) throws IOException {
        List<String> arguments = Arrays.asList(args);
        if (!String.join(" ", args).matches("(--quick)? ?(--only \\d+)?")) {
            throw new IllegalArgumentException("Nothing but --quick and --only <line>, in this order, is understood");
        }
        boolean quick = arguments.contains("--quick");
        int only = arguments.indexOf("--only");
        Lines lines = only < 0 ? Lines.ALL : Lines.only(Integer.parseInt(arguments.get(only + 1)));
        Path path = quick || only >= 0 ? LOOK : RESULTS;
        try (EmbeddedRedis redis = new EmbeddedRedis();
                RedisConsole console = new RedisConsole(redis.address())) {
            Report report = new Report();
            new Programme(quick ? Effort.QUICK : Effort.FULL, redis.address(), lines).run(report);
            Files.writeString(path, report.text(Machine.describe(console.version())));
        }
        System.out.println("Written: " + path);
    }
}

package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.redis.EmbeddedRedis;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.results.Chart;
import io.ratelimit.benchmarks.results.Report;
import io.ratelimit.benchmarks.results.Section;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Measures everything, or a part of it, and writes the results. See {@code benchmarks/run.sh}. */
public final class Benchmarks {

    private static final Path PAGES = Path.of("benchmarks");

    /** Not everything: not to be kept. */
    private static final Path LOOK = PAGES.resolve("target");

    private static final String USAGE = "[--quick] [--only <section>] | --chart; sections: "
            + Arrays.stream(Section.values()).map(Section::option).collect(Collectors.joining(", "));

    private Benchmarks() {}

    public static void main(String[] args) throws IOException {
        String line = String.join(" ", args);
        if (line.equals("--chart")) {
            write(PAGES, Files.readString(PAGES.resolve("RESULTS.md")));
        } else if (line.matches("(--quick)? ?(--only \\w+)?")) {
            measure(Arrays.asList(args));
        } else {
            throw new IllegalArgumentException("Usage: " + USAGE);
        }
    }

    private static void measure(List<String> arguments) throws IOException {
        long start = System.nanoTime();
        boolean quick = arguments.contains("--quick");
        int only = arguments.indexOf("--only");
        Set<Section> sections = only < 0 ? EnumSet.allOf(Section.class) : EnumSet.of(section(arguments.get(only + 1)));
        Report report = new Report();
        String machine;
        try (EmbeddedRedis redis = new EmbeddedRedis();
                RedisConsole console = new RedisConsole(List.of(redis.address()))) {
            new Programme(quick, sections, redis.address()).run(report);
            machine = Machine.describe(console.version());
        }
        Duration taken = Duration.ofNanos(System.nanoTime() - start);
        String effort = "Measured in %d min %d s%s. "
                .formatted(taken.toMinutes(), taken.toSecondsPart(), quick ? " with `--quick`, less exactly" : "");
        write(only < 0 ? PAGES : LOOK, report.text(effort + machine));
        System.out.printf("Total: %d min %d s%n", taken.toMinutes(), taken.toSecondsPart());
    }

    private static Section section(String option) {
        return Arrays.stream(Section.values())
                .filter(section -> section.option().equals(option))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Usage: " + USAGE));
    }

    private static void write(Path directory, String results) throws IOException {
        Path page = directory.resolve("RESULTS.md");
        Path chart = directory.resolve("results.svg");
        Files.writeString(page, results);
        Files.writeString(chart, Chart.svg(results));
        System.out.println("Written: " + page + ", " + chart);
    }
}

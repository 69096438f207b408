package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.redis.EmbeddedRedis;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.results.Chart;
import io.ratelimit.benchmarks.results.Report;
import io.ratelimit.benchmarks.results.Section;
import io.ratelimit.benchmarks.results.Standing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Measures everything, or a part of it, and writes the results. See {@code benchmarks/run.sh}. */
public final class Benchmarks {

    private static final Path PAGES = Path.of("benchmarks");

    /** Not everything, or not yet: not to be kept. */
    private static final Path LOOK = PAGES.resolve("target");

    private static final String PAGE = "RESULTS.md";

    private static final String CHART = "results.svg";

    private static final Path README = Path.of("README.md");

    private static final String USAGE = "[--quick] [--only <section>] | --chart; sections: "
            + Arrays.stream(Section.values()).map(Section::option).collect(Collectors.joining(", "))
            + "; or a scenario, such as " + option(Scenario.FAR_150);

    private Benchmarks() {}

    public static void main(String[] args) throws IOException {
        String line = String.join(" ", args);
        if (line.equals("--chart")) {
            write(PAGES, Files.readString(PAGES.resolve(PAGE)));
        } else if (line.matches("(--quick)? ?(--only \\w+)?")) {
            System.exit(measure(Arrays.asList(args)) ? 0 : 1);
        } else {
            throw new IllegalArgumentException("Usage: " + USAGE);
        }
    }

    /** Returns whether all benchmarks have succeeded. */
    private static boolean measure(List<String> arguments) throws IOException {
        long start = System.nanoTime();
        boolean quick = arguments.contains("--quick");
        int only = arguments.indexOf("--only");
        Set<Scenario> scenarios = EnumSet.allOf(Scenario.class);
        Set<Section> sections = EnumSet.allOf(Section.class);
        if (only >= 0) {
            String option = arguments.get(only + 1);
            if (scenarios.removeIf(scenario -> !option(scenario).equals(option)) && scenarios.isEmpty()) {
                scenarios = EnumSet.allOf(Scenario.class);
                sections = EnumSet.of(section(option));
            } else {
                sections = EnumSet.of(scenarios.iterator().next().section());
            }
        }
        Path target = only < 0 ? PAGES : LOOK;
        boolean succeeded;
        try (EmbeddedRedis redis = new EmbeddedRedis();
                RedisConsole console = new RedisConsole(List.of(redis.address()))) {
            Report report = new Report();
            String machine = Machine.describe(console.version());
            Supplier<String> results = () -> report.text(effort(start, quick) + machine);
            succeeded = new Programme(quick, sections, scenarios, redis.address())
                    .run(report, () -> write(LOOK, results.get()));
            write(target, results.get());
        }
        System.out.println("Written: " + target.resolve(PAGE) + ", " + target.resolve(CHART));
        System.out.println(effort(start, quick));
        return succeeded;
    }

    private static String effort(long start, boolean quick) {
        Duration taken = Duration.ofNanos(System.nanoTime() - start);
        return "Measured in %d min %d s%s. "
                .formatted(taken.toMinutes(), taken.toSecondsPart(), quick ? " with `--quick`, less exactly" : "");
    }

    private static String option(Scenario scenario) {
        return scenario.name().toLowerCase(Locale.ROOT);
    }

    private static Section section(String option) {
        return Arrays.stream(Section.values())
                .filter(section -> section.option().equals(option))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Usage: " + USAGE));
    }

    private static void write(Path directory, String results) {
        try {
            Files.writeString(directory.resolve(PAGE), results);
            Files.writeString(directory.resolve(CHART), Chart.svg(results));
            if (directory.equals(PAGES)) {
                Files.writeString(README, Standing.update(Files.readString(README), results));
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}

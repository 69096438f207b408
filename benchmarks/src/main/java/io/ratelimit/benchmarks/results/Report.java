package io.ratelimit.benchmarks.results;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Writes tables. Whatever stands in them is computed from samples. */
public final class Report {

    private static final String NONE = "–";

    private final Map<Integer, StringBuilder> lines = new TreeMap<>();

    /**
     * A race, with the targets of those contestants that have one.
     *
     * @param measure what contestants are compared by
     */
    public void addRace(int line, String title, Measure measure, Samples samples, List<Target> targets) {
        String ratio = measure == Measure.COST ? "time, of the floor's" : "calls, of the floor's";
        Table table = new Table(
                "", ratio, "quartiles", "bytes a call", "<sub>ns a call</sub>", "target", "target met", "wrong");
        for (String name : samples.contestants()) {
            Optional<Quartiles> ratios = samples.quartiles(name, measure);
            Optional<Target> target = target(targets, name);
            table.row(
                    name,
                    ratios.map(found -> "**" + number(found.median()) + "**").orElse("1"),
                    ratios.map(found -> number(found.lower()) + "–" + number(found.upper()))
                            .orElse(NONE),
                    median(samples, name, Measure.ALLOCATED),
                    "<sub>" + median(samples, name, Measure.NANOS) + "</sub>",
                    target.map(wanted -> number(wanted.value())).orElse(NONE),
                    isMet(target, ratios),
                    wrong(samples, name));
        }
        section(line, title, table);
    }

    /** What Redis had to do in a race. */
    public void addServer(int line, String title, Samples samples) {
        Table table = new Table(
                "",
                "script time, of the floor's",
                "Redis' CPU, of the floor's",
                "scripts a decision",
                "<sub>script, µs</sub>",
                "<sub>CPU, µs</sub>");
        for (String name : samples.contestants()) {
            table.row(
                    name,
                    ratio(samples, name, Measure.SCRIPT_COST),
                    ratio(samples, name, Measure.CPU_COST),
                    median(samples, name, Measure.SCRIPTS),
                    "<sub>" + median(samples, name, Measure.SCRIPT_MICROS) + "</sub>",
                    "<sub>" + median(samples, name, Measure.CPU_MICROS) + "</sub>");
        }
        section(line, "Redis' part: " + title, table);
    }

    /** Bytes are exact: there is no spread. */
    public void addBytes(int line, String title, Samples samples, Target... targets) {
        Table table = new Table("", "bytes", "used up", "target", "target met");
        for (String name : samples.contestants()) {
            Optional<Target> target = target(Arrays.asList(targets), name);
            table.row(
                    name,
                    "**" + median(samples, name, Measure.BYTES) + "**",
                    median(samples, name, Measure.BYTES_USED_UP),
                    target.map(wanted -> number(wanted.value())).orElse(NONE),
                    isMet(target, samples.quartiles(name, Measure.BYTES)));
        }
        section(line, title, table);
    }

    /**
     * What annotations add to the start of an application.
     *
     * @param methods how many the applications have
     */
    public void addStarts(int line, String title, Samples samples, int methods) {
        Optional<Quartiles> annotated = samples.quartiles("annotated", Measure.START_MILLIS);
        Optional<Quartiles> plain = samples.quartiles("not annotated", Measure.START_MILLIS);
        if (annotated.isEmpty() || plain.isEmpty()) {
            return;
        }
        double with = annotated.get().median();
        double without = plain.get().median();
        Table table = new Table("", "of the start without", "<sub>ms a method</sub>");
        table.row(
                "annotated",
                "**" + number(with / without) + "**",
                "<sub>" + number((with - without) / methods) + "</sub>");
        section(line, title, table);
    }

    /** There are no numbers: the console says why. */
    public void addFailure(int line, String title) {
        section(line, title, "Failed.\n");
    }

    /**
     * The whole file.
     *
     * @param machine where and with what was measured
     */
    public String text(String machine) {
        return """
                # Results

                Written by `benchmarks/run.sh`; [README.md](README.md) says how, and how to read it. [TARGETS.md](TARGETS.md)
                says where the targets come from, why some are not met, and what was tried.

                %s

                %s""".formatted(machine, lines.values().stream().collect(Collectors.joining("\n")))
                        .stripTrailing()
                + "\n";
    }

    private void section(int line, String title, Object content) {
        lines.computeIfAbsent(line, unused -> new StringBuilder())
                .append("## ")
                .append(line)
                .append(". ")
                .append(title)
                .append("\n\n")
                .append(content)
                .append('\n');
    }

    private static Optional<Target> target(List<Target> targets, String name) {
        return targets.stream()
                .filter(target -> target.contestant().equals(name))
                .findFirst();
    }

    private static String isMet(Optional<Target> target, Optional<Quartiles> found) {
        if (target.isEmpty() || found.isEmpty()) {
            return NONE;
        }
        return target.get().isMetBy(found.get().median()) ? "yes" : "no";
    }

    private static String ratio(Samples samples, String name, Measure measure) {
        return samples.quartiles(name, measure)
                .map(found -> "**%s** (%s–%s)"
                        .formatted(number(found.median()), number(found.lower()), number(found.upper())))
                .orElse("1");
    }

    private static String median(Samples samples, String name, Measure measure) {
        return samples.quartiles(name, measure)
                .map(found -> number(found.median()))
                .orElse(NONE);
    }

    private static String wrong(Samples samples, String name) {
        return samples.quartiles(name, Measure.WRONG)
                .map(found -> found.upper() == 0 ? NONE : "%.2f %%".formatted(100 * found.median()))
                .orElse(NONE);
    }

    private static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }
}

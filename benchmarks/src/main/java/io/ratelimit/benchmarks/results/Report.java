package io.ratelimit.benchmarks.results;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes the page of the results. Whatever stands in it is computed from samples. */
public final class Report {

    private static final String NONE = "–";

    private static final String FLOOR = "(floor)";

    private final Map<Section, List<Line>> lines = new EnumMap<>(Section.class);

    private final Map<Section, List<String>> failures = new EnumMap<>(Section.class);

    /**
     * Adds rows whose contestants were measured together.
     *
     * @param scenario in which they were
     */
    public void add(Section section, String scenario, List<Row> rows, Samples samples) {
        rows.forEach(row ->
                lines.computeIfAbsent(section, unused -> new ArrayList<>()).add(new Line(scenario, row, samples)));
    }

    /** There are no numbers: the console says why. */
    public void addFailure(Section section, String scenario) {
        failures.computeIfAbsent(section, unused -> new ArrayList<>()).add(scenario);
    }

    /**
     * Returns the whole page.
     *
     * @param machine where, with what and for how long was measured
     */
    public String text(String machine) {
        StringBuilder text =
                new StringBuilder("""
                # Results

                Written by `benchmarks/run.sh`. [README.md](README.md) says how it measures, and how to read this page.
                [TARGETS.md](TARGETS.md) says what was tried for rows that miss a goal of the project, or where another library is ahead.

                """).append(machine).append("\n\n").append(summary());
        for (Section section : Section.values()) {
            if (lines.containsKey(section) || failures.containsKey(section)) {
                text.append("\n## ").append(section.title()).append("\n\n");
                text.append(section.explanation()).append('\n');
                failures.getOrDefault(section, List.of())
                        .forEach(
                                title -> text.append("\nFailed: ").append(title).append(".\n"));
                text.append(section(section, lines.getOrDefault(section, List.of())));
            }
        }
        return text.toString();
    }

    private String summary() {
        List<Line> all = lines.entrySet().stream()
                .filter(section -> section.getKey() != Section.SIZES)
                .flatMap(section -> section.getValue().stream())
                .toList();
        List<Verdict> verdicts =
                all.stream().flatMap(line -> line.verdict().stream()).toList();
        StringBuilder text = new StringBuilder("## Summary\n\n");
        text.append(
                "Of %d rows with another library, this starter is ahead in %d, level in %d and behind in %d. Level: the middle halves of both samples overlap.\n"
                        .formatted(
                                verdicts.size(),
                                verdicts.stream().filter(Verdict::isAhead).count(),
                                verdicts.stream().filter(Verdict::level).count(),
                                verdicts.stream().filter(Verdict::isBehind).count()));
        Table behind = new Table("behind another library", "this starter", "ahead");
        all.stream()
                .filter(line -> line.verdict().map(Verdict::isBehind).orElse(false))
                .forEach(line -> behind.row(line.row.name(), line.median(line.row.contestant()), line.verdictText()));
        Table goals = new Table("missed goal", "this starter", "goal", "missing");
        all.stream()
                .filter(Line::missesGoal)
                .forEach(line ->
                        goals.row(line.row.name(), line.median(line.row.contestant()), line.goal(), line.missing()));
        Stream.of(behind, goals)
                .filter(table -> !table.isEmpty())
                .forEach(table -> text.append('\n').append(table));
        return text.toString();
    }

    private static String section(Section section, List<Line> lines) {
        if (lines.isEmpty()) {
            return "";
        }
        if (section == Section.SIZES) {
            return "\n" + sizes(lines);
        }
        Set<String> columns = lines.stream()
                .flatMap(line -> line.row.peers().stream())
                .map(Row::column)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        List<String> header = new ArrayList<>(List.of("", "this starter"));
        header.addAll(columns);
        if (!columns.isEmpty()) {
            header.add("ahead");
        }
        header.addAll(List.of("goal", "floor"));
        Table table = new Table(header.toArray(String[]::new));
        for (Line line : lines) {
            List<String> cells = new ArrayList<>(List.of(line.row.name(), line.cell(line.row.contestant())));
            columns.forEach(column -> cells.add(line.row.peers().stream()
                    .filter(peer -> Row.column(peer).equals(column))
                    .map(line::cell)
                    .findFirst()
                    .orElse(NONE)));
            if (!columns.isEmpty()) {
                cells.add(line.verdictText());
            }
            cells.addAll(List.of(line.goal(), line.floor()));
            table.row(cells.toArray(String[]::new));
        }
        return "\n" + table + details(section, lines);
    }

    /** Of this starter alone: a column for each server. */
    private static Table sizes(List<Line> lines) {
        Row first = lines.get(0).row;
        List<String> servers = Stream.concat(Stream.of(first.contestant()), first.peers().stream())
                .toList();
        Table table = new Table(Stream.concat(Stream.of(""), servers.stream()).toArray(String[]::new));
        lines.forEach(line -> table.row(
                Stream.concat(Stream.of(line.row.name()), servers.stream().map(line::median))
                        .toArray(String[]::new)));
        return table;
    }

    /** Calls a second, and the time within which 99 of 100 return. */
    private static String latencies(Collection<Line> workloads) {
        List<String> names = workloads.stream()
                .flatMap(line -> line.samples.contestants(line.row.workload()).stream())
                .distinct()
                .toList();
        List<String> header = new ArrayList<>(List.of("calls a second, p99"));
        header.addAll(names);
        Table table = new Table(header.toArray(String[]::new));
        for (Line line : workloads) {
            List<String> cells = new ArrayList<>(List.of(line.scenario + ", " + line.row.workload()));
            names.forEach(name -> cells.add(line.latency(name)));
            table.row(cells.toArray(String[]::new));
        }
        return "\n" + table;
    }

    /** All contestants, by workload. */
    private static String details(Section section, List<Line> lines) {
        Collection<Line> workloads = lines.stream()
                .filter(line -> line.row.measure().isRatio())
                .collect(Collectors.toMap(
                        line -> List.of(line.scenario, line.row.workload()),
                        Function.identity(),
                        (first, same) -> first,
                        LinkedHashMap::new))
                .values();
        if (workloads.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder();
        if (section == Section.FAR) {
            text.append(latencies(workloads));
        }
        text.append("\n<details><summary>Every contestant</summary>\n");
        workloads.forEach(line ->
                text.append("\n**%s: %s**\n\n%s".formatted(line.scenario, line.row.workload(), line.details())));
        return text.append("\n</details>\n").toString();
    }

    private record Line(String scenario, Row row, Samples samples) {

        private static final List<Detail> DETAILS = List.of(
                new Detail("bytes a call", Measure.ALLOCATED),
                new Detail("ns a call", Measure.NANOS),
                new Detail("calls a second", Measure.CALLS),
                new Detail("p99, µs", Measure.P99_MICROS),
                new Detail("scripts a decision", Measure.SCRIPTS),
                new Detail("script, µs", Measure.SCRIPT_MICROS),
                new Detail("CPU of Redis, µs", Measure.CPU_MICROS));

        Optional<Verdict> verdict() {
            return Verdict.of(row, samples);
        }

        String verdictText() {
            return verdict().map(Verdict::text).orElse(NONE);
        }

        Optional<Quartiles> quartiles(String contestant) {
            return samples.quartiles(row.workload(), contestant, row.measure());
        }

        String median(String contestant) {
            return quartiles(contestant)
                    .map(found -> Numbers.format(found.median()))
                    .orElse(NONE);
        }

        /** The median, and the share of wrong answers if there are any. */
        String cell(String contestant) {
            return quartiles(contestant)
                    .map(found -> "**" + Numbers.format(found.median()) + "**"
                            + wrong(contestant)
                                    .map(share -> " (wrong: " + share + ")")
                                    .orElse(""))
                    .orElse(NONE);
        }

        private Optional<String> wrong(String contestant) {
            double share = 100 * samples.mean(row.workload(), contestant, Measure.WRONG);
            if (share == 0) {
                return Optional.empty();
            }
            return Optional.of(share < 0.01 ? "< 0.01 %" : "%.2f %%".formatted(share));
        }

        String goal() {
            if (row.goal() == null) {
                return NONE;
            }
            return (row.measure().lessIsBetter() ? "≤ " : "≥ ") + Numbers.format(row.goal());
        }

        boolean missesGoal() {
            Double goal = row.goal();
            Optional<Quartiles> found = quartiles(row.contestant());
            if (goal == null || found.isEmpty()) {
                return false;
            }
            double median = found.get().median();
            return row.measure().lessIsBetter() ? median > goal : median < goal;
        }

        String missing() {
            double goal = Objects.requireNonNull(row.goal());
            double median = quartiles(row.contestant()).orElseThrow().median();
            return "%.0f %%".formatted(100 * Math.abs(median - goal) / goal);
        }

        /** What the floor is worth in absolute numbers of this machine. */
        String floor() {
            Optional<String> floor = samples.contestants(row.workload()).stream()
                    .filter(name -> name.endsWith(FLOOR))
                    .findFirst();
            if (floor.isEmpty()) {
                return NONE;
            }
            Measure measure = switch (row.measure()) {
                case THROUGHPUT -> Measure.CALLS;
                case COST -> Measure.NANOS;
                default -> row.measure();
            };
            String unit = measure == Measure.CALLS ? " /s" : measure == Measure.NANOS ? " ns" : "";
            return samples.quartiles(row.workload(), floor.get(), measure)
                    .map(found -> Numbers.format(found.median()) + unit)
                    .orElse(NONE);
        }

        String latency(String contestant) {
            Optional<Quartiles> calls = samples.quartiles(row.workload(), contestant, Measure.CALLS);
            Optional<Quartiles> p99 = samples.quartiles(row.workload(), contestant, Measure.P99_MICROS);
            if (calls.isEmpty() || p99.isEmpty()) {
                return NONE;
            }
            return "%s, %s ms"
                    .formatted(
                            Numbers.format(calls.get().median()),
                            Numbers.format(p99.get().median() / 1_000));
        }

        String details() {
            List<String> names = samples.contestants(row.workload());
            List<Detail> present = DETAILS.stream()
                    .filter(detail -> names.stream()
                            .anyMatch(name -> samples.quartiles(row.workload(), name, detail.measure)
                                    .isPresent()))
                    .toList();
            List<String> header = new ArrayList<>(List.of("", "of the floor", "quartiles", "wrong"));
            present.forEach(detail -> header.add(detail.header));
            Table table = new Table(header.toArray(String[]::new));
            for (String name : names) {
                Optional<Quartiles> ratio = quartiles(name);
                List<String> cells = new ArrayList<>(List.of(
                        name,
                        ratio.map(found -> Numbers.format(found.median())).orElse("1"),
                        ratio.map(found -> Numbers.format(found.lower()) + "–" + Numbers.format(found.upper()))
                                .orElse(NONE),
                        wrong(name).orElse(NONE)));
                present.forEach(detail -> cells.add(samples.quartiles(row.workload(), name, detail.measure)
                        .map(found -> Numbers.format(found.median()))
                        .orElse(NONE)));
                table.row(cells.toArray(String[]::new));
            }
            return table.toString();
        }
    }

    private record Detail(String header, Measure measure) {}
}

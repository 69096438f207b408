package io.ratelimit.benchmarks.results;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The table of what a decision in Redis costs: medians, a line for each workload and kind of cost. */
public final class CostTable {

    private CostTable() {}

    /**
     * Returns the table in Markdown.
     *
     * @param libraries the contestants, in the order of the columns
     */
    public static String of(Samples samples, List<String> workloads, List<String> libraries) {
        Table table = new Table(
                Stream.concat(Stream.of("a decision"), libraries.stream()).toArray(String[]::new));
        for (String workload : workloads) {
            Line line = new Line(samples, workload, libraries);
            line.addTo(
                    table,
                    "bytes sent/received/allocated",
                    Measure.BYTES_TO_REDIS,
                    Measure.BYTES_FROM_REDIS,
                    Measure.ALLOCATED);
            line.addTo(table, "CPU µs of Redis/client", Measure.CPU_MICROS, Measure.CLIENT_MICROS);
            line.addTo(table, "decisions a second", Measure.CALLS);
        }
        return table.toString();
    }

    private record Line(Samples samples, String workload, List<String> libraries) {

        void addTo(Table table, String what, Measure... measures) {
            table.row(Stream.concat(
                            Stream.of(workload + ": " + what),
                            libraries.stream().map(library -> cell(library, measures)))
                    .toArray(String[]::new));
        }

        private String cell(String library, Measure... measures) {
            return Arrays.stream(measures)
                    .map(measure -> Numbers.format(samples.quartiles(workload, library, measure)
                            .orElseThrow()
                            .median()))
                    .collect(Collectors.joining("/"));
        }
    }
}

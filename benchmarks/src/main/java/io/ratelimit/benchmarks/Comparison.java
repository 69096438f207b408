package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.race.Workload;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Row;
import java.util.ArrayList;
import java.util.List;

/**
 * What the results compare: a contestant of this starter with those of other libraries, under each workload of a scenario.
 *
 * @param path what is done
 * @param peers contestants of other libraries that can do it
 * @param goals of the project, in the order of the workloads; {@link #NONE} or too few where there is none
 */
record Comparison(String path, String contestant, List<String> peers, List<Double> goals) {

    static final double NONE = Double.NaN;

    static Comparison of(String path, String contestant, String... peers) {
        return new Comparison(path, contestant, List.of(peers), List.of());
    }

    Comparison goals(Double... wanted) {
        return new Comparison(path, contestant, peers, List.of(wanted));
    }

    List<Row> rows(List<Workload> workloads, Measure measure) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < workloads.size(); i++) {
            Double goal = i < goals.size() && !goals.get(i).isNaN() ? goals.get(i) : null;
            rows.add(new Row(path, workloads.get(i).label(), measure, contestant, peers, goal));
        }
        return rows;
    }
}

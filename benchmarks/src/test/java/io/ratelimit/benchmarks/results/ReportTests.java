package io.ratelimit.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTests {

    private final Report report = new Report();

    @Test
    void aCostAboveTheTargetMissesIt() {
        report.addRace(1, "race", Measure.COST, samples(Measure.COST, 2.5), target(Measure.COST, 2));
        assertThat(report.text("here"))
                .contains("| this starter | **2.50** | 2.50–2.50 |")
                .contains("| 2.00 | no |");
    }

    @Test
    void aThroughputAboveTheTargetReachesIt() {
        report.addRace(4, "race", Measure.THROUGHPUT, samples(Measure.THROUGHPUT, 2.5), target(Measure.THROUGHPUT, 2));
        assertThat(report.text("here")).contains("| 2.00 | yes |");
    }

    @Test
    void floorComesFirstThenThisStarterThenOtherLibraries() {
        Samples samples = samples(Measure.COST, 1);
        samples.add(new Finding("a peer", Measure.COST, 3));
        samples.add(new Finding("nothing (floor)", Measure.NANOS, 1));
        assertThat(samples.contestants()).containsExactly("nothing (floor)", "this starter", "a peer");
    }

    private static Samples samples(Measure measure, double value) {
        Samples samples = new Samples();
        samples.add(new Finding("this starter", measure, value));
        return samples;
    }

    private static List<Target> target(Measure measure, double value) {
        return List.of(new Target("this starter", measure, value));
    }
}

package io.ratelimit.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReportTests {

    private static final String WORKLOAD = "1 thread, one key";

    private final Report report = new Report();

    private final Samples samples = new Samples();

    @Test
    void aRowHasTheMedianOfEachLibraryInItsColumn() {
        add("EVALSHA (floor)", Measure.CALLS, 10_000);
        add("this starter, bucket", Measure.THROUGHPUT, 1, 2, 4);
        add("Peer", Measure.THROUGHPUT, 1);
        add("Other: two calls", Measure.THROUGHPUT, 0.5);
        add(Section.REDIS, Measure.THROUGHPUT, 1.5, "Peer", "Other: two calls");
        assertThat(report.text("here"))
                .contains("|  | this starter | Peer | Other | ahead | goal | floor |")
                .contains("| bucket, 1 thread, one key | **2.00** | **1.00** | **0.50** |")
                .contains("| ≥ 1.50 | 10,000 /s |");
    }

    @Test
    void theBetterMedianIsAhead() {
        add("this starter, bucket", Measure.THROUGHPUT, 2);
        add("Peer", Measure.THROUGHPUT, 1);
        add(Section.REDIS, Measure.THROUGHPUT, null, "Peer");
        assertThat(report.text("here"))
                .contains("this starter is ahead in 1, level in 0 and behind in 0")
                .contains("| this starter, 2.00× |");
    }

    @Test
    void aSmallerCostIsAhead() {
        add("this starter, bucket", Measure.COST, 3);
        add("Peer", Measure.COST, 1.5);
        add(Section.MEMORY, Measure.COST, null, "Peer");
        assertThat(report.text("here"))
                .contains("this starter is ahead in 0, level in 0 and behind in 1")
                .contains("| behind another library | this starter | ahead |")
                .contains("| bucket, 1 thread, one key | 3.00 | Peer, 2.00× |");
    }

    @Test
    void overlappingQuartilesAreLevel() {
        add("this starter, bucket", Measure.THROUGHPUT, 1, 2, 3);
        add("Peer", Measure.THROUGHPUT, 2, 2.2, 2.4);
        add(Section.REDIS, Measure.THROUGHPUT, null, "Peer");
        assertThat(report.text("here")).contains("level in 1").contains("| level with Peer |");
    }

    @Test
    void aMissedGoalIsInTheSummary() {
        add("this starter, bucket", Measure.THROUGHPUT, 1.5);
        add(Section.REDIS, Measure.THROUGHPUT, 2.0);
        assertThat(report.text("here")).contains("| bucket, 1 thread, one key | 1.50 | ≥ 2.00 | 25 % |");
    }

    @Test
    void anExceededGoalIsNot() {
        add("this starter, bucket", Measure.THROUGHPUT, 2.5);
        add(Section.REDIS, Measure.THROUGHPUT, 2.0);
        assertThat(report.text("here")).doesNotContain("missed goal");
    }

    @Test
    void oneWrongAnswerIsSeen() {
        add("this starter, bucket", Measure.THROUGHPUT, 2);
        add("this starter, bucket", Measure.WRONG, 0, 0, 0.03);
        add(Section.REDIS, Measure.THROUGHPUT, null);
        assertThat(report.text("here")).contains("**2.00** (wrong: 1.00 %)");
    }

    @Test
    void sizesHaveAColumnForEachServerAndNoVerdict() {
        samples.add(new Finding("one server", Measure.USED_MEMORY, 176));
        samples.add(new Finding("master 1", Measure.USED_MEMORY, 180));
        report.add(
                Section.SIZES,
                "sizes",
                List.of(new Row("bytes", "", Measure.USED_MEMORY, "one server", List.of("master 1"), null)),
                samples);
        assertThat(report.text("here"))
                .contains("Of 0 rows with another library")
                .contains("|  | one server | master 1 |")
                .contains("| bytes | 176 | 180 |");
    }

    @Test
    void aFailureIsSeen() {
        report.addFailure(Section.CLUSTER, "cluster");
        assertThat(report.text("here")).contains("Failed: cluster.");
    }

    @Test
    void floorComesFirstThenThisStarterThenOtherLibraries() {
        add("a peer", Measure.COST, 3);
        add("this starter", Measure.COST, 1);
        add("nothing (floor)", Measure.NANOS, 1);
        assertThat(samples.contestants(WORKLOAD)).containsExactly("nothing (floor)", "this starter", "a peer");
    }

    private void add(String contestant, Measure measure, double... values) {
        for (double value : values) {
            samples.add(new Finding(WORKLOAD, contestant, measure, value));
        }
    }

    private void add(Section section, Measure measure, @Nullable Double goal, String... peers) {
        report.add(
                section,
                "scenario",
                List.of(new Row("bucket", WORKLOAD, measure, "this starter, bucket", List.of(peers), goal)),
                samples);
    }
}

package io.ratelimit.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CostTableTests {

    private static final String WORKLOAD = "1 caller";

    private final Samples samples = new Samples();

    @Test
    void eachCostIsTheMedianOfTheTurns() {
        add("this starter", 100, 200, 300);
        add("Bucket4j", 1_000, 3_000, 2_000);

        assertThat(CostTable.of(samples, List.of(WORKLOAD), List.of("this starter", "Bucket4j")))
                .isEqualTo("""
                        | a decision | this starter | Bucket4j |
                        |---|---:|---:|
                        | 1 caller: bytes sent/received/allocated | 200/20.0/1,000 | 2,000/200/10,000 |
                        | 1 caller: CPU µs of Redis/client | 2.00/4.00 | 20.0/40.0 |
                        | 1 caller: decisions a second | 20,000 | 200,000 |
                        """);
    }

    private void add(String library, double... turns) {
        for (double turn : turns) {
            add(library, Measure.BYTES_TO_REDIS, turn);
            add(library, Measure.BYTES_FROM_REDIS, turn / 10);
            add(library, Measure.CPU_MICROS, turn / 100);
            add(library, Measure.CLIENT_MICROS, turn / 50);
            add(library, Measure.ALLOCATED, turn * 5);
            add(library, Measure.CALLS, turn * 100);
        }
    }

    private void add(String library, Measure measure, double value) {
        samples.add(new Finding(WORKLOAD, library, measure, value));
    }
}

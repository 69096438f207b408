package io.ratelimit.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ChartTests {

    private static final String PAGE = """
            |  | this starter | Peer | Other | ahead | goal | floor |
            |---|---:|---:|---:|---:|---:|---:|
            | token bucket, 32 threads, one key | **1.75** | **0.50** | **1.25** | this starter, 1.40× | – | 9 /s |
            | something else, 32 threads, one key | **1.00** | – | – | – | – | 9 /s |
            """;

    @Test
    void aRowIsDrawnAboveTheBestOtherLibrary() {
        assertThat(Chart.svg(PAGE))
                .contains(">token bucket, 32 threads, one key<")
                .contains(">1.75 this starter<")
                .contains(">1.25 Other<")
                .doesNotContain("something else");
    }

    /** After an edit by hand: {@code benchmarks/run.sh --chart}. */
    @Test
    void chartOfTheReadmeShowsTheResults() throws IOException {
        assertThat(Files.readString(Path.of("results.svg")))
                .isEqualTo(Chart.svg(Files.readString(Path.of("RESULTS.md"))));
    }
}

package io.ratelimit.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class StandingTests {

    private static final String RESULTS =
            "Of 7 rows with another library, this starter is ahead in 4, level in 2 and behind in 1. Level: …\n";

    @Test
    void sentenceHasTheNumbersOfTheResults() {
        assertThat(Standing.update("It is ahead in 1 of 2 rows, level in 0 and behind in 1 today.", RESULTS))
                .isEqualTo("It is ahead in 4 of 7 rows, level in 2 and behind in 1 today.");
    }

    @Test
    void missingSentenceIsNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Standing.update("Fast.", RESULTS))
                .withMessageContaining("ahead in \\d+ of \\d+ rows");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Standing.update("ahead in 1 of 2 rows, level in 0 and behind in 1", "none"))
                .withMessageContaining("rows with another library");
    }

    /** After an edit of a page: {@code benchmarks/run.sh --chart}. */
    @Test
    void readmeHasTheNumbersOfTheResultsPage() throws IOException {
        String readme = Files.readString(Path.of("../README.md"));
        assertThat(Standing.update(readme, Files.readString(Path.of("RESULTS.md"))))
                .isEqualTo(readme);
    }
}

package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Steps of Spring Batch, by what their application has logged when it ends. */
class BatchTests {

    private static String log;

    @BeforeAll
    static void run() {
        log = Application.start("batch").logOfEnd();
    }

    @Test
    void theStepOfARejectedTaskletFails() {
        assertThat(lines("tasklet")).containsExactly("tasklet: COMPLETED", "tasklet: FAILED");
        assertFailed("tasklet");
    }

    @Test
    void aTaskletWithATimeToWaitWaits() {
        assertThat(lines("waiting-tasklet"))
                .containsExactly("waiting-tasklet: COMPLETED", "waiting-tasklet: COMPLETED");
        assertQuiet("waiting-tasklet");
    }

    @Test
    void aChunkWithARejectedItemIsNotWritten() {
        assertThat(lines("processor")).containsExactly("processor writes [1, 2]", "processor: FAILED");
        assertFailed("processor");
    }

    @Test
    void aProcessorWithATimeToWaitWaits() {
        assertThat(lines("waiting-processor"))
                .containsExactly(
                        "waiting-processor writes [1, 2]",
                        "waiting-processor writes [3, 4]",
                        "waiting-processor: COMPLETED");
        assertQuiet("waiting-processor");
    }

    @Test
    void aRejectedItemIsProcessedAgain() {
        assertThat(lines("retried"))
                .containsExactly("retried writes [1, 2]", "retried writes [3, 4]", "retried: COMPLETED");
        assertQuiet("retried");
    }

    @Test
    void theStepOfARejectedWriterFails() {
        assertThat(lines("writer")).containsExactly("writer writes [1, 2]", "writer: FAILED");
        assertFailed("writer");
    }

    private static List<String> lines(String job) {
        return log.lines()
                .filter(line -> line.startsWith(job + ": ") || line.startsWith(job + " writes"))
                .toList();
    }

    private static void assertFailed(String step) {
        assertThat(log)
                .containsPattern(" ERROR [^\\n]*executing step " + step + "\\b(?:(?! ---)[\\s\\S])*Rate limit '" + step
                        + "' exceeded");
    }

    private static void assertQuiet(String limit) {
        assertThat(log).doesNotContain("Rate limit '" + limit + "' exceeded");
    }
}

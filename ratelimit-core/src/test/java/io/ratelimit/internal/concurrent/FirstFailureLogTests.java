package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LogRecorder;
import org.junit.jupiter.api.Test;

class FirstFailureLogTests {

    @Test
    void logsTheFirstFailureAndNoOther() {
        FirstFailureLog log = new FirstFailureLog("io.ratelimit.first-failure", "Something failed");
        try (LogRecorder recorder = new LogRecorder("io.ratelimit.first-failure")) {
            log.log(new IllegalStateException("once"));
            log.log(new IllegalStateException("twice"));
            assertThat(recorder.text()).isEqualTo("WARNING Something failed").doesNotContain("twice");
        }
    }
}

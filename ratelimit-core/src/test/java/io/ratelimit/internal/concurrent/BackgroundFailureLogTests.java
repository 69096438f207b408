package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.LogRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BackgroundFailureLogTests {

    private final BackgroundFailureLog log = new BackgroundFailureLog("Reading failed ({0})", "Reading works again");

    @Test
    void logsTheBeginAndTheEndOfFailuresOnceEach() {
        try (LogRecorder recorder = LogRecorder.ofThisThread("io.ratelimit")) {
            log.succeeded();
            log.failed(new IllegalStateException("a first cause"));
            log.failed(new IllegalStateException("another cause"));
            log.succeeded();
            log.succeeded();
            assertThat(recorder.text().lines())
                    .containsExactly("WARNING Reading failed (a first cause)", "INFO Reading works again");
        }
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void leavesFailuresOfTheWholeStoreToCalls(Reason reason) {
        boolean ofBackground = reason == Reason.FORBIDDEN || reason == Reason.FOREIGN_VALUE || reason == Reason.ERROR;
        try (LogRecorder recorder = LogRecorder.ofThisThread("io.ratelimit")) {
            log.failed(new RateLimitStoreException(reason, "the cause", null));
            assertThat(recorder.lines()).hasSize(ofBackground ? 1 : 0);
        }
    }
}

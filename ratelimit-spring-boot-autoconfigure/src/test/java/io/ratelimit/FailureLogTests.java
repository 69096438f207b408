package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FailureLogTests {

    private final Logger logger = Logger.getLogger(FailoverRateLimitStore.class.getName());

    private final Recorder recorder = new Recorder();

    private final FailureLog log = new FailureLog();

    private final RateLimitStoreException trouble =
            new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null);

    @BeforeEach
    void listen() {
        logger.addHandler(recorder);
    }

    @AfterEach
    void stopListening() {
        logger.removeHandler(recorder);
    }

    @Test
    void oneLineWhenItFailsAndOneWhenItIsBack() {
        log.success();
        for (int i = 0; i < 5; i++) {
            log.failure(trouble);
        }
        log.success();
        log.success();
        assertThat(recorder.levels).containsExactly("WARNING", "INFO");
    }

    @Test
    void flappingIsNotLoggedAgainAndAgain() {
        for (int i = 0; i < 5; i++) {
            log.failure(trouble);
            log.success();
        }
        assertThat(recorder.levels).containsExactly("WARNING", "INFO");
    }

    private static final class Recorder extends Handler {

        private final List<String> levels = new ArrayList<>();

        @Override
        public void publish(LogRecord record) {
            levels.add(record.getLevel().getName());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}

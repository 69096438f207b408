package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FailureLogTests {

    private final LogRecorder recorder = new LogRecorder(FailoverRateLimitStore.class);

    private long seconds;

    private final FailureLog log = new FailureLog(() -> TimeUnit.SECONDS.toNanos(seconds));

    private final RateLimit limit = RateLimit.named("quotes").rate("1/s").build();

    private final RateLimitStoreException trouble =
            new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null);

    @AfterEach
    void stopListening() {
        recorder.close();
    }

    @Test
    void oneLineWhenItFailsAndOneWhenItIsBack() {
        log.success();
        for (int i = 0; i < 5; i++) {
            log.failure(limit, trouble);
        }
        seconds = 1;
        log.success();
        log.success();
        assertThat(recorder.levels()).containsExactly("WARNING", "INFO");
        assertThat(recorder.lines().get(0)).contains("'quotes'", "on-store-failure=local", "down");
        assertThat(recorder.lines().get(1)).contains("on-store-failure: 5");
    }

    @Test
    void aSecondOutageIsLoggedAtOnce() {
        log.failure(limit, trouble);
        seconds = 1;
        log.success();
        log.failure(limit, trouble);
        seconds = 2;
        log.success();
        assertThat(recorder.levels()).containsExactly("WARNING", "INFO", "WARNING", "INFO");
    }

    @Test
    void failuresAmongSuccessesAreOneOutage() {
        for (int i = 0; i < 5; i++) {
            log.failure(limit, trouble);
            log.success();
        }
        assertThat(recorder.levels()).containsExactly("WARNING");
    }

    @Test
    void whatIsNotGivenBackIsLoggedOnceAMinute() {
        for (seconds = 0; seconds <= 60; seconds++) {
            log.notGivenBack(limit, trouble);
        }
        assertThat(recorder.levels()).containsExactly("WARNING", "WARNING");
        assertThat(recorder.lines().get(0)).contains("'quotes' stays taken", "down");
    }

    @Test
    void whatIsNotGivenBackWhileTheStoreFailsIsNoNews() {
        log.failure(limit, trouble);
        log.notGivenBack(limit, trouble);
        assertThat(recorder.levels()).containsExactly("WARNING");
    }

    @Test
    void troubleThatLastsIsLoggedOnceAMinute() {
        for (seconds = 0; seconds <= 120; seconds++) {
            log.failure(limit, trouble);
        }
        assertThat(recorder.levels()).containsExactly("WARNING", "WARNING", "WARNING");
        assertThat(recorder.lines().get(2)).contains("121 calls so far");
    }
}

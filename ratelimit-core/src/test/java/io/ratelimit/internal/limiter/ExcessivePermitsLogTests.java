package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ExcessivePermitsLogTests {

    private final LogRecorder recorder = LogRecorder.ofThisThread("io.ratelimit.capacity");

    private final RateLimit quotes = TestLimits.tokenBucket("stock-quotes", 1_200, "1/s");

    private final RateLimit exports = TestLimits.dryRun(TestLimits.tokenBucket("exports", 2, "1/s"));

    private final RateLimitGate gate = new RateLimitGate(
            new InMemoryRateLimitStore(new TestClock(), 100),
            new CompositeRateLimitListener(List.of()),
            new RecordingWaiter());

    @AfterEach
    void stopListening() {
        recorder.close();
    }

    @Test
    void warnsOnceForEachLimitAndSaysWhatToChange() {
        for (int i = 0; i < 3; i++) {
            ask(quotes, 1_201 + i);
            ask(exports, 3);
        }
        assertThat(recorder.levels()).containsExactly("WARNING", "WARNING");
        assertThat(recorder.lines().get(0))
                .contains(
                        "'stock-quotes'",
                        "1201 permits",
                        "capacity is 1200",
                        "ratelimit.limits.stock-quotes.capacity",
                        "cost less");
        assertThat(recorder.lines().get(1)).contains("'exports'", "3 permits", "capacity is 2");
        assertThat(recorder.lines()).noneMatch(line -> line.contains("secret"));
    }

    @Test
    void saysNothingOfACallThatCanSucceedLater() {
        ask(quotes, 1_200);
        ask(quotes, 1_200);
        assertThat(recorder.lines()).isEmpty();
    }

    private void ask(RateLimit limit, long permits) {
        gate.decide(List.of(new Charge(limit, "secret", permits)));
    }
}

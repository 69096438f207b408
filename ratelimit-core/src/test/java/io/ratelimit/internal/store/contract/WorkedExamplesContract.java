package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Two examples that are told to explain what sets the algorithms apart. */
public abstract class WorkedExamplesContract extends StoreContract {

    /** Ten a minute, and calls that cost five: two pass, the third does not. */
    @ParameterizedTest
    @EnumSource
    void twoCallsAtHalfTheCapacity(LimitKind kind) {
        RateLimit limit = kind.limit("halves", 10, "10/60s");
        assertOutcome(take(limit, 5), true, 5);
        assertOutcome(take(limit, 5), true, 0);
        assertOutcome(take(limit, 5), false, 0);
    }

    private static void assertOutcome(RateLimitDecision decision, boolean allowed, long remaining) {
        assertThat(decision.allowed()).isEqualTo(allowed);
        assertThat(decision.remaining()).isEqualTo(remaining);
    }

    /**
     * A thousand in three seconds. In the first three seconds come 10, 10 and, at the end of the third, 980 calls, in the
     * fourth and the fifth 900 and 100, at the beginning of each.
     *
     * <ul>
     *   <li>Fixed window, from the first call to 3.0: 1,000 pass. The next one opens at 3.0, and 1,000 pass again: 1,980
     *       within 1.1 seconds. So it is with intervals that bring all thousand at once.
     *   <li>Log: at 3.0 the 10 of 0.0 are out of sight, at 4.0 those of 1.0. Each time as many pass.
     *   <li>Sliding window: at 3.0 all of the previous window is in view, at 4.0 two thirds of it, 666 2/3, and there is
     *       room for 333.
     *   <li>Token bucket and leaky bucket: at 3.0, a tenth of a second after the 980, 33 1/3 of them are back, with the 20
     *       that were left that is room for 53. At 4.0 there is room for 333 again.
     * </ul>
     */
    @ParameterizedTest
    @CsvSource({
        "FIXED_WINDOW, 900, 100",
        "TOKEN_BUCKET_BY_INTERVALS, 900, 100",
        "SLIDING_WINDOW_LOG, 10, 10",
        "SLIDING_WINDOW, 0, 100",
        "TOKEN_BUCKET, 53, 100",
        "LEAKY_BUCKET, 53, 100"
    })
    void burstAroundTheEndOfAWindow(LimitKind kind, int inTheFourth, int inTheFifth) {
        RateLimit limit = kind.limit("burst", 1_000, "1000/3s");
        long start = TestClock.TODAY / (3 * SECOND) * (3 * SECOND);
        assertThat(allowedAt(start, limit, 10)).isEqualTo(10);
        assertThat(allowedAt(start + SECOND, limit, 10)).isEqualTo(10);
        assertThat(allowedAt(start + 2_900_000, limit, 980)).isEqualTo(980);
        assertThat(allowedAt(start + 3 * SECOND, limit, 900)).isEqualTo(inTheFourth);
        assertThat(allowedAt(start + 4 * SECOND, limit, 100)).isEqualTo(inTheFifth);
    }

    private int allowedAt(long time, RateLimit limit, int calls) {
        clock.set(time);
        StoreRequest request = new Charge(limit, KEY, 1);
        List<CompletionStage<StoreOutcome>> outcomes = Stream.generate(
                        () -> store.decide(request).toStage())
                .limit(calls)
                .toList();
        return (int) outcomes.stream()
                .filter(outcome ->
                        outcome.toCompletableFuture().join().decision().allowed())
                .count();
    }

    /** One way to place calls that the log has to stand: as many as pass, every 100 ms. */
    @Test
    void logNeverLetsMoreThroughThanItsCapacityInAnyWindow() {
        RateLimit log = LimitKind.SLIDING_WINDOW_LOG.limit("log", 10, "10/3s");
        int[] allowed = new int[200];
        for (int i = 0; i < allowed.length; i++) {
            allowed[i] = allowedAt(TestClock.TODAY + i * SECOND / 10, log, 1 + i % 4);
            int inWindow = 0;
            for (int j = Math.max(0, i - 29); j <= i; j++) {
                inWindow += allowed[j];
            }
            assertThat(inWindow).isLessThanOrEqualTo(10);
        }
    }
}

package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.testing.TestLimits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompositeRateLimitListenerTests {

    private final RateLimit limit = TestLimits.tokenBucket("quotes", 1, "1/s");

    @Test
    void listenerThatFailsKeepsNobodyFromHearing() {
        Recorder before = new Recorder();
        Recorder after = new Recorder();
        CompositeRateLimitListener listeners = new CompositeRateLimitListener(List.of(before, new Broken(), after));
        for (int i = 0; i < 2; i++) {
            listeners.onLimit(limit);
            listeners.onDecision(
                    new Charge(limit, "key", 1), RateLimitDecision.unlimited(1), RateLimitListener.Outcome.ALLOWED);
        }
        assertThat(before.heard).containsExactly("quotes", "ALLOWED", "quotes", "ALLOWED");
        assertThat(after.heard).isEqualTo(before.heard);
    }

    @Test
    void nobodyNeedListen() {
        new CompositeRateLimitListener(List.of()).onLimit(limit);
    }

    private static final class Recorder implements RateLimitListener {

        private final List<String> heard = new ArrayList<>();

        @Override
        public void onLimit(RateLimit limit) {
            heard.add(limit.name());
        }

        @Override
        public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
            heard.add(outcome.name());
        }
    }

    private static final class Broken implements RateLimitListener {

        @Override
        public void onLimit(RateLimit limit) {
            throw new IllegalStateException("broken");
        }

        @Override
        public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
            throw new IllegalStateException("broken");
        }
    }
}

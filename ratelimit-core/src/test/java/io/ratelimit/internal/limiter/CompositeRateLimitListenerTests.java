package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.testing.TestLimits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompositeRateLimitListenerTests {

    private final RateLimit limit = TestLimits.tokenBucket("quotes", 1, "1/s");

    /** In Kotlin it can throw a checked exception, and one of another version a linkage error. */
    @Test
    void listenerThatFailsKeepsNobodyFromHearing() {
        assertOthersHear(new IllegalStateException("broken"));
        assertOthersHear(new IOException("broken"));
        assertOthersHear(new NoClassDefFoundError("broken"));
    }

    private void assertOthersHear(Throwable failure) {
        Charge charge = new Charge(limit, "key", 1);
        Recorder before = new Recorder();
        Recorder after = new Recorder();
        CompositeRateLimitListener listeners =
                new CompositeRateLimitListener(List.of(before, new Broken(failure), after));
        for (int i = 0; i < 2; i++) {
            listeners.onLimit(limit);
            listeners.onDecision(charge, RateLimitDecision.unlimited(1), RateLimitListener.Outcome.ALLOWED);
            listeners.onRefusal(charge, new RateLimitStoreException(Reason.CLOSED, "closed", null));
        }
        assertThat(before.heard).containsExactly("quotes", "ALLOWED", "CLOSED", "quotes", "ALLOWED", "CLOSED");
        assertThat(after.heard).isEqualTo(before.heard);
    }

    @Test
    void listenersAreOptional() {
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

        @Override
        public void onRefusal(Charge charge, RateLimitStoreException failure) {
            heard.add(failure.getReason().name());
        }
    }

    private static final class Broken implements RateLimitListener {

        private final Throwable failure;

        Broken(Throwable failure) {
            this.failure = failure;
        }

        @Override
        public void onLimit(RateLimit limit) {
            Broken.<RuntimeException>fail(failure);
        }

        @Override
        public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
            Broken.<RuntimeException>fail(failure);
        }

        @Override
        public void onRefusal(Charge charge, RateLimitStoreException refusal) {
            Broken.<RuntimeException>fail(failure);
        }

        @SuppressWarnings("unchecked")
        private static <E extends Throwable> void fail(Throwable failure) throws E {
            throw (E) failure;
        }
    }
}

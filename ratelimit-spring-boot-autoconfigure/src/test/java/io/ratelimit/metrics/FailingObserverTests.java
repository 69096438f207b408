package io.ratelimit.metrics;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What watches decisions can fail without changing them. */
class FailingObserverTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Quotes.class);

    @Test
    void listenerThatThrowsChangesNoDecisionAndKeepsNoOtherFromHearing() {
        runner.withBean(ThrowingListener.class).run(context -> {
            assertThat(context).hasNotFailed();
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote();
            assertRejected("quotes", quotes::quote);
            assertThat(context.getBean(RecordingListener.class).outcomes())
                    .containsExactly("quotes ALLOWED", "quotes REJECTED");
        });
    }

    @Test
    void registryThatRefusesOurCountersChangesNoDecision() {
        runner.withBean(RefusingRegistry.class).run(context -> {
            assertThat(context).hasNotFailed();
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote();
            assertRejected("quotes", quotes::quote);
        });
    }

    @Test
    void registryThatDeniesOurMetersChangesNoDecision() {
        runner.withBean(DenyingRegistry.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote();
            assertRejected("quotes", quotes::quote);
        });
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s")
        public void quote() {}
    }

    static class ThrowingListener implements RateLimitListener {

        @Override
        public void onLimit(RateLimit limit) {
            throw new IllegalStateException("onLimit");
        }

        @Override
        public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
            throw new IllegalStateException("onDecision");
        }
    }

    static class RefusingRegistry extends SimpleMeterRegistry {

        RefusingRegistry() {
            config().meterFilter(new MeterFilter() {
                @Override
                public MeterFilterReply accept(Meter.Id id) {
                    if (id.getName().equals("ratelimit.calls")) {
                        throw new IllegalStateException("no " + id);
                    }
                    return MeterFilterReply.ACCEPT;
                }
            });
        }
    }

    static class DenyingRegistry extends SimpleMeterRegistry {

        DenyingRegistry() {
            config().meterFilter(MeterFilter.denyNameStartsWith("ratelimit"));
        }
    }
}

package io.ratelimit.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.Waiter;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What Micrometer Tracing makes of the observations: spans of a tracer. */
class TracedCallsTests {

    private static final String KEY = "0xSECRET";

    private static final String WAIT = "wait for rate limit slow";

    private final SimpleTracer tracer = new SimpleTracer();

    private final ObservationRegistry registry = ObservationRegistry.create();

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(ObservationRegistry.class, () -> registry)
            .withBean(Waiter.class, () -> delay -> {})
            .withBean(Quotes.class)
            .withPropertyValues(
                    "ratelimit.observations.enabled=true",
                    "ratelimit.limits.slow.rate=1/h",
                    "ratelimit.limits.slow.max-wait=10h",
                    "ratelimit.limits.slow.key-expression=#user");

    TracedCallsTests() {
        registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
    }

    @Test
    void aBlockingCallHasASpanForItsWait() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.slow(KEY));
            assertThat(tracer.getSpans()).extracting(SimpleSpan::getName).containsExactly("call");
            tracer.getSpans().clear();
            call(() -> quotes.slow(KEY));
            assertWaited();
        });
    }

    @Test
    void aBlockingCallHasAnEventIfItIsRejected() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.quote(KEY));
            assertThat(tracer.getSpans())
                    .singleElement()
                    .matches(span -> span.getEvents().isEmpty());
            tracer.getSpans().clear();
            LimitedContexts.assertRejected("quotes", () -> call(() -> quotes.quote(KEY)));
            assertRejected();
        });
    }

    /** On a thread that has no span of its own. */
    @Test
    void aReactiveCallHasASpanForItsWait() {
        runner.run(context -> {
            Mono<String> slow = context.getBean(Quotes.class).slowMono(KEY);
            call(slow);
            assertThat(tracer.getSpans()).extracting(SimpleSpan::getName).containsExactly("call");
            tracer.getSpans().clear();
            call(slow);
            assertWaited();
        });
    }

    @Test
    void aReactiveCallHasAnEventIfItIsRejected() {
        runner.run(context -> {
            Mono<String> quote = context.getBean(Quotes.class).quoteMono(KEY);
            call(quote);
            assertThat(tracer.getSpans())
                    .singleElement()
                    .matches(span -> span.getEvents().isEmpty());
            tracer.getSpans().clear();
            call(quote.onErrorComplete(RateLimitExceededException.class));
            assertRejected();
        });
    }

    private void assertWaited() {
        assertThat(tracer.getSpans()).extracting(SimpleSpan::getName).containsExactlyInAnyOrder("call", WAIT);
        SimpleSpan call = span("call");
        SimpleSpan wait = span(WAIT);
        assertThat(wait.getTraceId()).isEqualTo(call.getTraceId());
        assertThat(wait.getParentId()).isEqualTo(call.getSpanId());
        assertThat(wait.getTags()).isEqualTo(Map.of("limit", "slow"));
        assertThat(wait.getEndTimestamp()).isAfterOrEqualTo(wait.getStartTimestamp());
        assertNoKey();
    }

    private void assertRejected() {
        assertThat(tracer.getSpans()).extracting(SimpleSpan::getName).containsExactly("call");
        assertThat(span("call").getEvents())
                .extracting(Map.Entry::getValue)
                .containsExactly("rejected by rate limit quotes");
        assertNoKey();
    }

    /** Not even in the exception that ends a span. */
    private void assertNoKey() {
        assertThat(tracer.getSpans())
                .allSatisfy(span -> assertThat(span.getName() + span.getTags() + span.getEvents() + span.getError())
                        .doesNotContain(KEY));
    }

    private SimpleSpan span(String name) {
        return tracer.getSpans().stream()
                .filter(span -> name.equals(span.getName()))
                .findFirst()
                .orElseThrow();
    }

    private void call(Runnable call) {
        Observation.createNotStarted("call", registry).observe(call);
    }

    private void call(Mono<String> call) {
        Observation observation = Observation.start("call", registry);
        call.contextWrite(view -> view.put("micrometer.observation", observation))
                .subscribeOn(Schedulers.parallel())
                .block();
        observation.stop();
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/h", keyExpression = "#user")
        public void quote(String user) {}

        @RateLimited(name = "quotes", rate = "1/h", keyExpression = "#user")
        public Mono<String> quoteMono(String user) {
            return Mono.just("quote");
        }

        @RateLimited(name = "slow")
        public void slow(String user) {}

        @RateLimited(name = "slow")
        public Mono<String> slowMono(String user) {
            return Mono.just("slow");
        }
    }
}

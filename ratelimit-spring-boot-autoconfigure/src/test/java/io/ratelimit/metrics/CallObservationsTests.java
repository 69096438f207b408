package io.ratelimit.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitReactiveAutoConfiguration;
import io.ratelimit.internal.limiter.CallObserver;
import io.ratelimit.spi.Waiter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Mono;

class CallObservationsTests {

    private static final String WAIT = "ratelimit.waiting 'wait for rate limit slow' limit='slow' below call";

    private static final String REJECTION = "call: ratelimit.rejected 'rejected by rate limit quotes'";

    private final Recorder recorder = new Recorder();

    private final ObservationRegistry registry = ObservationRegistry.create();

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(ObservationRegistry.class, () -> registry)
            .withBean(Waiter.class, () -> delay -> recorder.heard.add("waits"))
            .withBean(Quotes.class)
            .withPropertyValues(
                    "ratelimit.observations.enabled=true",
                    "ratelimit.limits.slow.rate=1/s",
                    "ratelimit.limits.slow.max-wait=10s",
                    "ratelimit.limits.slow.key-expression=#user");

    CallObservationsTests() {
        registry.observationConfig().observationHandler(recorder);
    }

    @Test
    void waitIsASpanBelowTheCallersObservationWithoutTheKey() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.slow("0xSECRET"));
            assertThat(recorder.heard).isEmpty();
            call(() -> quotes.slow("0xSECRET"));
            assertThat(recorder.heard).containsExactly("start " + WAIT, "waits", "stop " + WAIT);
        });
    }

    @Test
    void rejectionIsAnEventOfTheCallersObservationWithoutTheKey() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.quote("0xSECRET"));
            call(() -> LimitedContexts.assertRejected("quotes", () -> quotes.quote("0xSECRET")));
            call(() -> limiter(context.getBean(RateLimiterRegistry.class)).tryAcquire("0xSECRET"));
            assertThat(recorder.heard).containsExactly(REJECTION, REJECTION);
        });
    }

    @Test
    void rejectionWithoutAnObservationIsNoEvent() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice");
            LimitedContexts.assertRejected("quotes", () -> quotes.quote("alice"));
            assertThat(recorder.heard).isEmpty();
        });
    }

    @Test
    void dryRunIsNoEvent() {
        runner.withPropertyValues("ratelimit.dry-run=true").run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.quote("alice"));
            call(() -> quotes.quote("alice"));
            assertThat(recorder.heard).isEmpty();
        });
    }

    @Test
    void asynchronousCallBelongsToTheObservationOfTheThreadThatMadeIt() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.slowLater("alice").join());
            call(() -> quotes.slowLater("alice").join());
            assertThat(recorder.heard).contains("start " + WAIT, "waits", "stop " + WAIT);
            recorder.heard.clear();
            call(() -> quotes.quoteLater("alice").join());
            call(() -> LimitedContexts.assertRejected("quotes", quotes.quoteLater("alice")));
            assertThat(recorder.heard).containsExactly(REJECTION);
        });
    }

    /** The observation of the subscriber's context, and not one of the thread. */
    @Test
    void reactiveCallBelongsToTheObservationOfItsContext() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            Observation call = Observation.start("call", registry);
            Mono<String> slow = quotes.slowMono("alice").contextWrite(view -> view.put("micrometer.observation", call));
            slow.block();
            slow.block();
            assertThat(recorder.heard).contains("start " + WAIT, "waits", "stop " + WAIT);
            recorder.heard.clear();
            Mono<String> quote =
                    quotes.quoteMono("alice").contextWrite(view -> view.put("micrometer.observation", call));
            quote.block();
            quote.onErrorComplete(RateLimitExceededException.class).block();
            assertThat(recorder.heard).containsExactly(REJECTION);
        });
    }

    /** As WebFlux itself puts it into the subscriber's context. */
    @Test
    void urlRuleOfWebFluxBelongsToTheObservationOfTheRequest() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class, RateLimitReactiveAutoConfiguration.class))
                .withUserConfiguration(WebFlux.class)
                .withBean(ObservationRegistry.class, () -> registry)
                .withPropertyValues(
                        "ratelimit.store=in-memory",
                        "ratelimit.observations.enabled=true",
                        "ratelimit.limits.quotes.rate=1/h",
                        "ratelimit.limits.quotes.key-expression='all'",
                        "ratelimit.http[0].path=/**",
                        "ratelimit.http[0].limit=quotes")
                .run(context -> {
                    HttpHandler server = WebHttpHandlerBuilder.applicationContext(context.getSourceApplicationContext())
                            .build();
                    for (int i = 0; i < 2; i++) {
                        server.handle(MockServerHttpRequest.get("/quotes").build(), new MockServerHttpResponse())
                                .block();
                    }
                    assertThat(recorder.heard)
                            .containsExactly(
                                    "http.server.requests: ratelimit.rejected 'rejected by rate limit quotes'");
                });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebFlux
    static class WebFlux {}

    @Test
    void withoutThePropertyNothingIsObserved() {
        runner.withPropertyValues("ratelimit.observations.enabled=false").run(context -> {
            assertThat(context.getBean(CallObserver.class)).isSameAs(CallObserver.NONE);
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.slow("alice"));
            call(() -> quotes.slow("alice"));
            call(() -> quotes.quote("alice"));
            call(() -> LimitedContexts.assertRejected("quotes", () -> quotes.quote("alice")));
            assertThat(recorder.heard).containsExactly("waits");
        });
    }

    @Test
    void withoutARegistryNothingIsObserved() {
        LimitedContexts.inMemory()
                .withPropertyValues("ratelimit.observations.enabled=true")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(CallObserver.class)).isSameAs(CallObserver.NONE);
                });
    }

    @Test
    void handlerThatThrowsChangesNoDecision() {
        registry.observationConfig().observationHandler(new ObservationHandler<>() {
            @Override
            public void onStart(Observation.Context observation) {
                if (observation.getName().startsWith("ratelimit")) {
                    throw new IllegalStateException("start");
                }
            }

            @Override
            public void onEvent(Observation.Event event, Observation.Context observation) {
                throw new IllegalStateException("event");
            }

            @Override
            public boolean supportsContext(Observation.Context observation) {
                return true;
            }
        });
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            call(() -> quotes.slow("alice"));
            call(() -> quotes.slow("alice"));
            call(() -> quotes.quote("alice"));
            LimitedContexts.assertRejected("quotes", () -> quotes.quote("alice"));
            call(() -> LimitedContexts.assertRejected("quotes", () -> quotes.quote("alice")));
        });
    }

    private void call(Runnable call) {
        Observation.createNotStarted("call", registry).observe(call);
    }

    private static RateLimiter limiter(RateLimiterRegistry limiters) {
        return limiters.get("quotes");
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s", keyExpression = "#user")
        public void quote(String user) {}

        @RateLimited(name = "quotes", rate = "1/s", keyExpression = "#user")
        public CompletableFuture<String> quoteLater(String user) {
            return CompletableFuture.completedFuture("quote");
        }

        @RateLimited(name = "quotes", rate = "1/s", keyExpression = "#user")
        public Mono<String> quoteMono(String user) {
            return Mono.just("quote");
        }

        @RateLimited(name = "slow")
        public void slow(String user) {}

        @RateLimited(name = "slow")
        public CompletableFuture<String> slowLater(String user) {
            return CompletableFuture.completedFuture("slow");
        }

        @RateLimited(name = "slow")
        public Mono<String> slowMono(String user) {
            return Mono.just("slow");
        }
    }

    /** Hears of all observations but the callers'. */
    private static final class Recorder implements ObservationHandler<Observation.Context> {

        private static final Pattern KEY_VALUES =
                Pattern.compile("lowCardinalityKeyValues=\\[(.*?)], highCardinalityKeyValues=\\[(.*?)]");

        private final List<String> heard = new CopyOnWriteArrayList<>();

        @Override
        public void onStart(Observation.Context context) {
            record("start ", context);
        }

        @Override
        public void onStop(Observation.Context context) {
            record("stop ", context);
        }

        private void record(String what, Observation.Context context) {
            if (context.getName().startsWith("ratelimit")) {
                String parent = context.getParentObservation() == null
                        ? "nothing"
                        : context.getParentObservation().getContextView().getName();
                heard.add(what + context.getName() + " '" + context.getContextualName() + "' " + keyValues(context)
                        + " below " + parent);
            }
        }

        /** As the context prints them, of both cardinalities. */
        private static String keyValues(Observation.Context context) {
            Matcher printed = KEY_VALUES.matcher(context.toString());
            assertThat(printed.find()).isTrue();
            return printed.group(1) + printed.group(2);
        }

        @Override
        public void onEvent(Observation.Event event, Observation.Context context) {
            heard.add(context.getName() + ": " + event.getName() + " '" + event.getContextualName() + "'");
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }
}

package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.Scope;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.RateLimitSettings;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestSettings;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.service.annotation.GetExchange;
import reactor.core.publisher.Mono;

/** Handler methods that a WebFlux event loop would call. */
class WebFluxHandlerTests {

    private final ReactiveWebApplicationContextRunner inMemory = new ReactiveWebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(WebFluxAutoConfiguration.class, RateLimitAutoConfiguration.class))
            .withPropertyValues("ratelimit.store=in-memory");

    private final ReactiveWebApplicationContextRunner slow = inMemory.withBean(RateLimitStore.class, StubStore::new);

    @ParameterizedTest
    @ValueSource(classes = {OfText.class, OfFuture.class, OfExchange.class})
    void oneThatWouldWaitStopsTheStartUp(Class<?> type) {
        slow.withBean(type).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = LimitedContexts.analysis(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .contains("Where: " + type.getName() + ".quote()")
                    .contains("handler method on an event loop must be reactive or a CompletionStage (was java.");
            assertThat(analysis.getAction())
                    .startsWith("Return a Mono, a Flux or a CompletionStage")
                    .contains("spring.threads.virtual.enabled=true");
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {OfMono.class, OfStage.class, NoHandler.class})
    void othersDoNot(Class<?> type) {
        slow.withBean(type).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void inMemoryThereIsNothingToWaitForButPermits() {
        inMemory.withBean(OfText.class).run(context -> assertThat(context).hasNotFailed());
        inMemory.withBean(OfText.class)
                .withPropertyValues("ratelimit.limits.texts.max-wait=1s")
                .run(context -> assertThat(context).hasFailed());
    }

    /** Each request would be answered with 500 from then on. */
    @Test
    void limitOfOneThatWouldWaitCannotBeEnabledLater() {
        slow.withBean(OfText.class)
                .withPropertyValues("ratelimit.limits.texts.enabled=false")
                .run(context -> {
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    assertThatExceptionOfType(RateLimitConfigurationException.class)
                            .isThrownBy(() -> admin.override(
                                    "texts",
                                    RateLimitOverride.builder().enabled(true).build()))
                            .withMessageContaining("handler method on an event loop must be reactive");
                    admin.override(
                            "texts", RateLimitOverride.builder().capacity(7).build());
                });
    }

    /** As a limit of the instance that a refresh gives to all instances. */
    @Test
    void limitOfOneThatDoesNotWaitCannotMoveToAStoreThatIsWaitedFor() {
        inMemory.withBean(RateLimitStore.class, InstanceStore::new)
                .withBean(OfText.class)
                .withPropertyValues("ratelimit.limits.texts.scope=instance")
                .run(context -> {
                    LimitCatalog catalog = context.getBean(LimitCatalog.class);
                    RateLimitSettings shared = TestSettings.of(false, OnStoreFailure.LOCAL, Map.of());
                    assertThatExceptionOfType(RateLimitConfigurationException.class)
                            .isThrownBy(() -> catalog.reconfigure(shared))
                            .withMessageContaining("handler method on an event loop must be reactive");
                });
    }

    private static final class InstanceStore extends DelegatingRateLimitStore {

        InstanceStore() {
            super(new StubStore());
        }

        @Override
        public boolean isNonBlocking(RateLimit limit) {
            return limit.scope() == Scope.INSTANCE;
        }
    }

    @Test
    void executorForThoseThatBlockCallsThem() {
        slow.withBean(OfText.class)
                .withUserConfiguration(WithExecutor.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    @LongRunning
    @EnabledForJreRange(min = JRE.JAVA_21)
    void soDoVirtualThreads() {
        slow.withBean(OfText.class)
                .withBean("applicationTaskExecutor", SimpleAsyncTaskExecutor.class)
                .withPropertyValues("spring.threads.virtual.enabled=true")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void servletsHaveThreadsOfTheirOwn() {
        new WebApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(WebMvcAutoConfiguration.class, RateLimitAutoConfiguration.class))
                .withBean(RateLimitStore.class, StubStore::new)
                .withBean(OfText.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Configuration(proxyBeanMethods = false)
    static class WithExecutor {

        @Bean
        WebFluxConfigurer blockingExecution() {
            return new WebFluxConfigurer() {
                @Override
                public void configureBlockingExecution(BlockingExecutionConfigurer configurer) {
                    configurer.setExecutor(new SimpleAsyncTaskExecutor());
                }
            };
        }
    }

    @RestController
    static class OfText {

        @RateLimited(name = "texts", rate = "1/s")
        @GetMapping("/quote")
        public String quote() {
            return "quote";
        }
    }

    @RestController
    static class OfFuture {

        @RateLimited(rate = "1/s")
        @GetMapping("/quote")
        public Future<String> quote() {
            return CompletableFuture.completedFuture("quote");
        }
    }

    interface QuoteExchange {

        @GetExchange("/quote")
        String quote();
    }

    @RestController
    static class OfExchange implements QuoteExchange {

        @Override
        @RateLimited(rate = "1/s")
        public String quote() {
            return "quote";
        }
    }

    @RestController
    static class OfMono {

        @RateLimited(rate = "1/s")
        @GetMapping("/quote")
        public Mono<String> quote() {
            return Mono.just("quote");
        }
    }

    @RestController
    static class OfStage {

        @RateLimited(rate = "1/s")
        @GetMapping("/quote")
        public CompletionStage<String> quote() {
            return CompletableFuture.completedStage("quote");
        }
    }

    @Service
    static class NoHandler {

        @RateLimited(rate = "1/s")
        public String quote() {
            return "quote";
        }
    }
}

package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.web.RateLimitReactiveAutoConfiguration;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.web.WebSettings;
import io.ratelimit.web.reactive.ExchangeContextFilter;
import io.ratelimit.web.reactive.RateLimitWebExceptionHandler;
import io.ratelimit.web.reactive.ReactiveRateLimitExceptionAdvice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.EnableWebFlux;
import reactor.core.publisher.Mono;

class RateLimitReactiveAutoConfigurationTests {

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RateLimitAutoConfiguration.class,
                    RateLimitReactiveAutoConfiguration.class,
                    RateLimitServletAutoConfiguration.class))
            .withUserConfiguration(WebFlux.class)
            .withPropertyValues("ratelimit.store=in-memory");

    @Test
    void disabledApplicationHasNothingOfIt() {
        runner.withPropertyValues("ratelimit.enabled=false").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context).doesNotHaveBean(ReactiveRequestCallSource.class);
            assertThat(context).doesNotHaveBean(ExchangeContextFilter.class);
            assertThat(context).doesNotHaveBean(ReactiveRateLimitExceptionAdvice.class);
            assertThat(context).doesNotHaveBean(RateLimitWebExceptionHandler.class);
            assertThat(context).doesNotHaveBean(WebSettings.class);
        });
    }

    @Test
    void beansOfTheApplicationReplaceTheDefaults() {
        ReactiveRequestCallSource requests = ReactiveRequestCallSource.NONE;
        runner.withBean(ReactiveRequestCallSource.class, () -> requests).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(ReactiveRequestCallSource.class)).isSameAs(requests);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"clientIp", "principal", "header('X-Api-Key')"})
    void methodThatCannotKnowTheRequestStopsTheStartUp(String expression) {
        runner.withBean(Blocking.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> {
                    var analysis = LimitedContexts.analysis(context.getStartupFailure());
                    assertThat(analysis.getDescription())
                            .contains("but in a reactive application only methods that return a publisher know the"
                                    + " request.");
                    assertThat(analysis.getAction()).startsWith("Let the method return a Mono or a Flux");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"clientIp", "principal", "header('X-Api-Key')"})
    void methodThatReturnsAPublisherKnowsTheRequest(String expression) {
        runner.withBean(Reactive.class)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=" + expression)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @EnableWebFlux
    static class WebFlux {}

    @RestController
    static class Blocking {

        @GetMapping("/quotes")
        @RateLimited(name = "quotes", rate = "1/s")
        public String quotes() {
            return "42";
        }
    }

    @RestController
    static class Reactive {

        @GetMapping("/quotes")
        @RateLimited(name = "quotes", rate = "1/s")
        public Mono<String> quotes() {
            return Mono.just("42");
        }
    }
}

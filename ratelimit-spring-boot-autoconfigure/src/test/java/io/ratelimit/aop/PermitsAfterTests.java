package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestClock;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a call turns out to cost replaces its estimate of 10, in a bucket of 100 at a time that stands still. */
class PermitsAfterTests {

    private final TestClock clock = new TestClock();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withPropertyValues("ratelimit.store=in-memory")
            .withBean(TimeSource.class, () -> clock)
            .withBean("sum", Collector.class, () -> Collectors.summingInt(Answer::tokens))
            .withBean(Model.class);

    private long used(RateLimiterRegistry limiters, String limit) {
        return 100 - limiters.get(limit).allCallers().peek().remaining();
    }

    private void with(BiConsumer<Model, RateLimiterRegistry> test) {
        runner.run(context -> test.accept(context.getBean(Model.class), context.getBean(RateLimiterRegistry.class)));
    }

    @Test
    void valueIsChargedWhatItSays() {
        with((model, limiters) -> {
            assertThat(model.value(3).tokens()).isEqualTo(3);
            assertThat(used(limiters, "value")).isEqualTo(3);
            model.value(25);
            assertThat(used(limiters, "value")).isEqualTo(28);
        });
    }

    @Test
    void debtRejectsUntilItIsBack() {
        with((model, limiters) -> {
            model.value(150);
            assertThatThrownBy(() -> model.value(1))
                    .isInstanceOfSatisfying(RateLimitExceededException.class, rejection -> {
                        assertThat(rejection.getDecision().remaining()).isZero();
                        assertThat(rejection.getDecision().retryAfter()).hasSeconds(60);
                    });
            clock.advance(60_000_000);
            model.value(1);
        });
    }

    @Test
    void estimateOfNothingRejectsNoLessThanOthers() {
        with((model, limiters) -> {
            model.estimated(0, 150);
            assertThatThrownBy(() -> model.estimated(0, 1)).isInstanceOf(RateLimitExceededException.class);
        });
    }

    @Test
    void failureKeepsTheEstimateUnlessTheExpressionReadsIt() {
        with((model, limiters) -> {
            assertThatThrownBy(() -> model.value(-1)).isInstanceOf(IllegalStateException.class);
            assertThat(used(limiters, "value")).isEqualTo(10);
            assertThatThrownBy(() -> model.failing(true)).isInstanceOf(IllegalStateException.class);
            assertThat(used(limiters, "failing")).isEqualTo(2);
            assertThatThrownBy(() -> model.failing(false)).isInstanceOf(IOException.class);
            assertThat(used(limiters, "failing")).as("refundOn wins").isEqualTo(2);
        });
    }

    @Test
    void eachLimitIsSettledForItself() {
        with((model, limiters) -> {
            model.two(4);
            assertThat(used(limiters, "requests")).isEqualTo(1);
            assertThat(used(limiters, "less")).isEqualTo(4);
            assertThat(used(limiters, "more")).isEqualTo(40);
        });
    }

    @Test
    void costThatIsUnknownOrWrongKeepsTheEstimateAndTheResult() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.costs")) {
            with((model, limiters) -> {
                assertThat(model.odd(null)).isNull();
                assertThat(log.lines()).isEmpty();
                assertThat(model.odd(-5)).isEqualTo(-5);
                assertThat(model.odd(2_000_000_000)).isEqualTo(2_000_000_000);
                assertThat(used(limiters, "odd")).isEqualTo(30);
                assertThat(log.lines()).hasSize(1);
                assertThat(log.lines().get(0))
                        .contains(
                                "Cost of a call to limit 'odd' unknown",
                                "must return a whole number from 0 to 1000000000 (was -5)",
                                "estimate stays charged");
            });
        }
    }

    /** Also with errors, before the first result, and without the text of a failure, which may contain results. */
    @Test
    void collectorThatFailsKeepsTheEstimateAndTheResult() {
        Collector<Object, ?, ?> withoutContainer = Collector.of(
                () -> {
                    throw new IllegalStateException("secret");
                },
                (container, result) -> {},
                (one, other) -> one);
        Collector<Object, ?, ?> withoutResults = Collector.of(
                Object::new,
                (container, result) -> {
                    throw new AssertionError("secret");
                },
                (one, other) -> one);
        for (Collector<Object, ?, ?> failing : List.of(withoutContainer, withoutResults)) {
            try (LogRecorder log = new LogRecorder("io.ratelimit.costs")) {
                MeterRegistry registry = new SimpleMeterRegistry();
                LimitedContexts.inMemory()
                        .withBean("sum", Collector.class, () -> failing)
                        .withBean(MeterRegistry.class, () -> registry)
                        .withBean(Model.class)
                        .run(context -> {
                            assertThat(context.getBean(Model.class)
                                            .collected(Flux.just(5, 6))
                                            .collectList()
                                            .block())
                                    .hasSize(2);
                            assertThat(used(context.getBean(RateLimiterRegistry.class), "collected"))
                                    .isEqualTo(10);
                            assertThat(registry.get("ratelimit.settlements.lost")
                                            .tag("limit", "collected")
                                            .counter()
                                            .count())
                                    .isEqualTo(1);
                        });
                assertThat(log.text()).contains("'collected' unknown").doesNotContain("secret");
            }
        }
    }

    /** Whole numbers alone are costs: what is rounded is not exact. */
    @Test
    void costThatIsNoWholeNumberKeepsTheEstimate() {
        with((model, limiters) -> {
            List<Object> wrong = List.of(
                    2.5,
                    3.0f,
                    Double.NaN,
                    Double.POSITIVE_INFINITY,
                    new BigDecimal("7"),
                    new BigInteger("9007199254740993"),
                    9_007_199_254_740_993L,
                    Long.MAX_VALUE,
                    Long.MIN_VALUE,
                    "12");
            for (Object cost : wrong) {
                assertThat(model.any(cost)).isSameAs(cost);
                assertThat(used(limiters, "any")).as("" + cost).isEqualTo(10);
                limiters.get("any").allCallers().reset();
            }
            for (Object cost : List.of((byte) 7, (short) 7, 7, 7L)) {
                model.any(cost);
                assertThat(used(limiters, "any")).isEqualTo(7);
                limiters.get("any").allCallers().reset();
            }
            model.any(1_000_000_000);
            assertThat(limiters.get("any").allCallers().tryAcquire(1).retryAfter())
                    .hasSeconds(999_999_901);
        });
    }

    @Test
    void errorIsAnExceptionToo() {
        with((model, limiters) -> {
            assertThatThrownBy(() -> model.broken()).isInstanceOf(AssertionError.class);
            assertThat(used(limiters, "broken")).isEqualTo(14);
        });
    }

    @Test
    void rejectedCallAndItsFallbackCostNothing() {
        with((model, limiters) -> {
            model.orElse(100);
            assertThat(model.orElse(50)).isEqualTo(-1);
            clock.advance(6_000_000);
            assertThat(used(limiters, "or-else")).isEqualTo(94);
        });
    }

    @Test
    void nestedCallsAreSettledEachForItself() {
        runner.withBean(Outer.class).run(context -> {
            assertThat(context.getBean(Outer.class).outer(5)).isEqualTo(6);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            assertThat(used(limiters, "value")).isEqualTo(5);
            assertThat(used(limiters, "outer")).isEqualTo(6);
        });
    }

    @Test
    void dryRunSettlesOnlyWhatItHasCharged() {
        runner.withPropertyValues("ratelimit.dry-run=true").run(context -> {
            Model model = context.getBean(Model.class);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            model.value(100);
            model.value(50);
            clock.advance(6_000_000);
            assertThat(used(limiters, "value")).isEqualTo(94);
        });
    }

    @Test
    void chargeGoesBeyondTheCapacityAndIsValidated() {
        with((model, limiters) -> {
            limiters.get("value").allCallers().charge(250);
            assertThat(limiters.get("value").allCallers().tryAcquire(1).retryAfter())
                    .hasSeconds(151);
            assertThatThrownBy(() -> limiters.get("value").allCallers().charge(-1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> limiters.get("value").allCallers().charge(1_000_000_001L))
                    .isInstanceOf(IllegalArgumentException.class);
            limiters.get("value").chargeAsync("bob", 7).toCompletableFuture().join();
            assertThat(limiters.get("value").peek("bob").remaining()).isEqualTo(93);
        });
    }

    @Test
    void configurationCanSetIt() {
        runner.withPropertyValues("ratelimit.limits.plain.permits-after=#result")
                .run(context -> {
                    context.getBean(Model.class).plain(17);
                    assertThat(used(context.getBean(RateLimiterRegistry.class), "plain"))
                            .isEqualTo(17);
                });
    }

    private static void assertRefused(Class<?> bean, String problem) {
        LimitedContexts.inMemory()
                .withBean(bean)
                .run(context -> assertThat(analysis(context).getDescription()).contains(problem));
    }

    @Test
    void mistakesStopTheStartUp() {
        assertRefused(OfFuture.class, "permitsAfter of the limit 'future' must be empty");
        assertRefused(HandedOver.class, "because an @Async method that returns void has returned before it begins");
        assertRefused(OfConcurrency.class, "permitsAfter must not be set for the algorithm CONCURRENCY");
        assertRefused(Free.class, "permits must be at least 1 with permitsAfter");
        assertRefused(OfParameter.class, "must not be used on a method with a parameter named result");
        assertRefused(OfUnknown.class, "names #reslt, but the method has no such parameter");
        assertRefused(OfRequest.class, "uses clientIp, but the cost is computed after the call");
        LimitedContexts.inMemory()
                .withBean(Model.class)
                .withBean("sum", Collector.class, () -> Collectors.counting())
                .withPropertyValues("ratelimit.limits.value.permits-after=#resul.tokens")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.value.permits-after", "#resul"));
    }

    record Answer(int tokens) {}

    static class Model {

        @RateLimited(name = "value", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
        Answer value(int tokens) {
            if (tokens < 0) {
                throw new IllegalStateException();
            }
            return new Answer(tokens);
        }

        @RateLimited(name = "future", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
        CompletableFuture<Answer> future(CompletableFuture<Answer> answer) {
            return answer.thenApply(done -> done);
        }

        @RateLimited(name = "mono", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
        Mono<Answer> mono(int tokens) {
            return Mono.just(new Answer(tokens));
        }

        @RateLimited(name = "estimated", rate = "100/100s", permits = "#p0", permitsAfter = "#result")
        int estimated(int estimate, int tokens) {
            return tokens;
        }

        @RateLimited(name = "flux", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
        Flux<Answer> flux(Flux<Integer> tokens) {
            return tokens.map(Answer::new);
        }

        @RateLimited(name = "collected", rate = "100/100s", permits = "10", permitsAfter = "@sum")
        Flux<Answer> collected(Flux<Integer> tokens) {
            return tokens.map(Answer::new);
        }

        @RateLimited(
                name = "failing",
                rate = "100/100s",
                permits = "10",
                permitsAfter = "#exception == null ? 1 : 2",
                refundOn = IOException.class)
        void failing(boolean state) throws IOException {
            if (state) {
                throw new IllegalStateException();
            }
            throw new IOException();
        }

        @RateLimited(name = "requests", rate = "100/100s")
        @RateLimited(name = "less", rate = "100/100s", permits = "10", permitsAfter = "#result")
        @RateLimited(name = "more", rate = "100/100s", permits = "10", permitsAfter = "#result * #p0 + 24")
        int two(int tokens) {
            return tokens;
        }

        @RateLimited(name = "odd", rate = "100/100s", permits = "10", permitsAfter = "#result")
        Integer odd(Integer tokens) {
            return tokens;
        }

        @RateLimited(name = "any", rate = "100/100s", permits = "10", permitsAfter = "#result")
        Object any(Object cost) {
            return cost;
        }

        @RateLimited(
                name = "maybe",
                rate = "100/100s",
                permits = "10",
                permitsAfter = "#result == null ? 1 : #result.tokens")
        Mono<Answer> maybe(Mono<Answer> answer) {
            return answer;
        }

        @RateLimited(
                name = "broken",
                rate = "100/100s",
                permits = "10",
                permitsAfter = "#exception.class.simpleName.length()")
        void broken() {
            throw new AssertionError("expected by the test");
        }

        @RateLimited(
                name = "or-else",
                rate = "100/100s",
                permits = "10",
                permitsAfter = "#result",
                fallbackMethod = "nothing")
        int orElse(int tokens) {
            return tokens;
        }

        int nothing(int tokens) {
            return -1;
        }

        @RateLimited(
                name = "entity",
                rate = "100/100s",
                permits = "10",
                permitsAfter = "#result.tokens",
                refundOn = IOException.class)
        Mono<ResponseEntity<Flux<Answer>>> entity(Flux<Answer> answers) {
            return Mono.just(ResponseEntity.accepted().header("X-Kept", "yes").body(answers));
        }

        @RateLimited(name = "entity-with-mono", rate = "100/100s", permits = "10", permitsAfter = "#result.tokens")
        Mono<ResponseEntity<Mono<Answer>>> entityWithMono(Mono<Answer> answer) {
            return Mono.just(ResponseEntity.ok(answer));
        }

        @RateLimited(name = "plain", rate = "100/100s", permits = "10")
        int plain(int tokens) {
            return tokens;
        }
    }

    static class Outer {

        private final Model model;

        Outer(Model model) {
            this.model = model;
        }

        @RateLimited(name = "outer", rate = "100/100s", permits = "10", permitsAfter = "#result")
        int outer(int tokens) {
            return model.value(tokens).tokens() + 1;
        }
    }

    static class HandedOver {

        @Async
        @RateLimited(name = "later", rate = "1/s", permitsAfter = "5")
        void later() {}
    }

    static class OfFuture {

        @RateLimited(name = "future", rate = "1/s", permitsAfter = "#result")
        Future<Integer> future() {
            return CompletableFuture.completedFuture(1);
        }
    }

    static class OfConcurrency {

        @RateLimited(algorithm = Algorithm.CONCURRENCY, capacity = 2, permitsAfter = "#result")
        int held() {
            return 1;
        }
    }

    static class Free {

        @RateLimited(rate = "1/s", permits = "0", permitsAfter = "#result")
        int free() {
            return 1;
        }
    }

    static class OfParameter {

        @RateLimited(rate = "1/s", permitsAfter = "#result")
        int of(int result) {
            return result;
        }
    }

    static class OfUnknown {

        @RateLimited(rate = "1/s", permitsAfter = "#reslt")
        int of(int tokens) {
            return tokens;
        }
    }

    static class OfRequest {

        @RateLimited(rate = "1/s", permitsAfter = "clientIp.length()")
        int of(int tokens) {
            return tokens;
        }
    }
}

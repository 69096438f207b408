package io.ratelimit.aop;

import static io.ratelimit.aop.SettledCalls.used;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.testing.LogRecorder;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.stream.Collector;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** What a call turns out to cost replaces its estimate of 10, in a bucket of 100 at a time that stands still. */
class PermitsAfterTests {

    private final SettledCalls calls = new SettledCalls();

    @Test
    void valueIsChargedWhatItSays() {
        calls.with((model, limiters) -> {
            assertThat(model.value(3).tokens()).isEqualTo(3);
            assertThat(used(limiters, "value")).isEqualTo(3);
            model.value(25);
            assertThat(used(limiters, "value")).isEqualTo(28);
        });
    }

    @Test
    void debtRejectsUntilItIsBack() {
        calls.with((model, limiters) -> {
            model.value(150);
            assertThatThrownBy(() -> model.value(1))
                    .isInstanceOfSatisfying(RateLimitExceededException.class, rejection -> {
                        assertThat(rejection.getDecision().remaining()).isZero();
                        assertThat(rejection.getDecision().retryAfter()).hasSeconds(60);
                    });
            calls.clock.advance(60_000_000);
            model.value(1);
        });
    }

    @Test
    void estimateOfNothingRejectsNoLessThanOthers() {
        calls.with((model, limiters) -> {
            model.estimated(0, 150);
            assertThatThrownBy(() -> model.estimated(0, 1)).isInstanceOf(RateLimitExceededException.class);
        });
    }

    @Test
    void failureKeepsTheEstimateUnlessTheExpressionReadsIt() {
        calls.with((model, limiters) -> {
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
        calls.with((model, limiters) -> {
            model.two(4);
            assertThat(used(limiters, "requests")).isEqualTo(1);
            assertThat(used(limiters, "less")).isEqualTo(4);
            assertThat(used(limiters, "more")).isEqualTo(40);
        });
    }

    @Test
    void costThatIsUnknownOrWrongKeepsTheEstimateAndTheResult() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.costs")) {
            calls.with((model, limiters) -> {
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
                        .withBean(TokenModel.class)
                        .run(context -> {
                            assertThat(context.getBean(TokenModel.class)
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
        calls.with((model, limiters) -> {
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
        calls.with((model, limiters) -> {
            assertThatThrownBy(() -> model.broken()).isInstanceOf(AssertionError.class);
            assertThat(used(limiters, "broken")).isEqualTo(14);
        });
    }

    @Test
    void rejectedCallAndItsFallbackCostNothing() {
        calls.with((model, limiters) -> {
            model.orElse(100);
            assertThat(model.orElse(50)).isEqualTo(-1);
            calls.clock.advance(6_000_000);
            assertThat(used(limiters, "or-else")).isEqualTo(94);
        });
    }

    @Test
    void nestedCallsAreSettledEachForItself() {
        calls.runner.withBean(Outer.class).run(context -> {
            assertThat(context.getBean(Outer.class).outer(5)).isEqualTo(6);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            assertThat(used(limiters, "value")).isEqualTo(5);
            assertThat(used(limiters, "outer")).isEqualTo(6);
        });
    }

    @Test
    void dryRunSettlesOnlyWhatItHasCharged() {
        calls.runner.withPropertyValues("ratelimit.dry-run=true").run(context -> {
            TokenModel model = context.getBean(TokenModel.class);
            RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
            model.value(100);
            model.value(50);
            calls.clock.advance(6_000_000);
            assertThat(used(limiters, "value")).isEqualTo(94);
        });
    }

    @Test
    void chargeGoesBeyondTheCapacityAndIsValidated() {
        calls.with((model, limiters) -> {
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
        calls.runner
                .withPropertyValues("ratelimit.limits.plain.permits-after=#result")
                .run(context -> {
                    context.getBean(TokenModel.class).plain(17);
                    assertThat(used(context.getBean(RateLimiterRegistry.class), "plain"))
                            .isEqualTo(17);
                });
    }

    static class Outer {

        private final TokenModel model;

        Outer(TokenModel model) {
            this.model = model;
        }

        @RateLimited(name = "outer", rate = "100/100s", permits = "10", permitsAfter = "#result")
        int outer(int tokens) {
            return model.value(tokens).tokens() + 1;
        }
    }
}

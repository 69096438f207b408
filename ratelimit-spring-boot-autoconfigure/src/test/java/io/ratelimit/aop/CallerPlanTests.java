package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** The plan of a caller, which an expression determines. */
class CallerPlanTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(Quotes.class, Quotes::new)
            .withBean(LimitsOfCalls.class, LimitsOfCalls::new)
            .withPropertyValues(
                    "ratelimit.limits.quotes.plans.free.capacity=2",
                    "ratelimit.limits.quotes.plans.free-trial.rate=1/h",
                    "ratelimit.limits.quotes.plans.pro.capacity=6",
                    "ratelimit.limits.quotes.plans.pro.rate=60/m",
                    "ratelimit.limits.quotes.plans.staff.enabled=false",
                    "ratelimit.limits.quotes.plans.watched.dry-run=true",
                    "ratelimit.limits.quotes.plans.strict.block-for=1m",
                    "ratelimit.limits.quotes.plans.patient.max-wait=1s");

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "free, 2, 10/h",
                "free-trial, 4, 1/h",
                "freeTrial, 4, 1/h",
                "FREE_TRIAL, 4, 1/h",
                "pro, 6, 60/m",
                "gold, 4, 10/h",
                "null, 4, 10/h",
                "'', 4, 10/h"
            })
    void planReplacesTheNumbersThatItSets(String plan, long capacity, String rate) {
        runner.run(context -> {
            context.getBean(Quotes.class).quote("alice", plan);
            RateLimit limit = context.getBean(LimitsOfCalls.class).last();
            assertThat(limit.capacity()).isEqualTo(capacity);
            assertThat(limit.rate()).hasToString(rate);
            assertThat(limit.name()).isEqualTo("quotes");
        });
    }

    @Test
    void plansCountInOneBucketWhateverTheCallersPlanWasBefore() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice", "free");
            quotes.quote("alice", "free");
            assertRejected("quotes", () -> quotes.quote("alice", "free"));
            for (int upgraded = 0; upgraded < 4; upgraded++) {
                quotes.quote("alice", "pro");
            }
            assertRejected("quotes", () -> quotes.quote("alice", "pro"));
            assertRejected("quotes", () -> quotes.quote("alice", "free"));
            assertRejected("quotes", () -> quotes.quote("alice", null));
            quotes.quote("bob", "free");
        });
    }

    @Test
    void disabledPlanIsNotLimitedAndOneInDryRunOnlyCounts() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            for (int call = 0; call < 20; call++) {
                quotes.quote("alice", "staff");
            }
            assertThat(context.getBean(LimitsOfCalls.class).all).isEmpty();
            for (int call = 0; call < 6; call++) {
                quotes.quote("alice", "watched");
            }
            assertThat(context.getBean(LimitsOfCalls.class).outcomes)
                    .endsWith(RateLimitListener.Outcome.DRY_RUN_REJECTED);
            assertRejected("quotes", () -> quotes.quote("alice", "free"));
        });
    }

    @Test
    void planOfADisabledLimitApplies() {
        runner.withPropertyValues(
                        "ratelimit.limits.quotes.enabled=false", "ratelimit.limits.quotes.plans.free.enabled=true")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    for (int call = 0; call < 20; call++) {
                        quotes.quote("alice", "pro");
                    }
                    quotes.quote("alice", "free");
                    quotes.quote("alice", "free");
                    assertRejected("quotes", () -> quotes.quote("alice", "free"));
                });
    }

    @Test
    void planOfTheCodeAppliesToADisabledLimit() {
        runner.withPropertyValues("ratelimit.limits.quotes.enabled=false").run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            RateLimitPlan contract =
                    RateLimitPlan.named("contract").enabled(true).capacity(1).rate("1/h");
            quotes.computed("alice", contract);
            assertRejected("quotes", () -> quotes.computed("alice", contract));
            quotes.computed("", RateLimitPlan.named("other").capacity(1));
        });
    }

    @Test
    void blockOfOnePlanAppliesToTheKeyUnderAnother() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            for (int call = 0; call < 4; call++) {
                quotes.quote("alice", "strict");
            }
            assertRejected("quotes", () -> quotes.quote("alice", "strict"));
            assertRejected("quotes", () -> quotes.quote("alice", "pro"));
            context.getBean(StoppedClock.class).advance(Duration.ofMinutes(1));
            quotes.quote("alice", "pro");
        });
    }

    @Test
    void expressionMayReturnAPlanWithNumbersWhichBecomesOneLimit() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.computed("alice", RateLimitPlan.named("gold").capacity(9).rate("9/h"));
            RateLimit first = context.getBean(LimitsOfCalls.class).last();
            assertThat(first.toString()).isEqualTo("TOKEN_BUCKET, capacity 9 at 9/h, plan gold");
            quotes.computed("alice", RateLimitPlan.named("gold").capacity(9).rate("9/h"));
            assertThat(context.getBean(LimitsOfCalls.class).last()).isSameAs(first);
            quotes.computed("alice", RateLimitPlan.named("pro").capacity(9));
            assertThat(context.getBean(LimitsOfCalls.class).last().toString())
                    .isEqualTo("TOKEN_BUCKET, capacity 9 at 60/m, plan pro");
            quotes.computed("alice", RateLimitPlan.named("pro"));
            assertThat(context.getBean(LimitsOfCalls.class).last().capacity()).isEqualTo(6);
        });
    }

    @Test
    void invalidNumbersOfACallAreAsConfiguredAndLoggedOnce() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.plans")) {
            runner.run(context -> {
                Quotes quotes = context.getBean(Quotes.class);
                for (int call = 0; call < 2; call++) {
                    quotes.computed("alice", RateLimitPlan.named("pro").capacity(-1));
                    assertThat(context.getBean(LimitsOfCalls.class).last().capacity())
                            .isEqualTo(6);
                    quotes.computed("alice", RateLimitPlan.named("gold").rate("often"));
                    assertThat(context.getBean(LimitsOfCalls.class).last().capacity())
                            .isEqualTo(4);
                }
            });
            assertThat(log.lines())
                    .hasSize(2)
                    .allMatch(line -> line.startsWith("The numbers of plan ") && line.contains("must be"));
        }
    }

    @Test
    void unknownNamesAreLoggedOnceEachAndWhatIsNoNameIsNotRepeated() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.plans")) {
            runner.run(context -> {
                Quotes quotes = context.getBean(Quotes.class);
                for (String plan : List.of("fre", "gold", "fre", "Gold", "G-old", "\nINFO forged", "another\nforged")) {
                    quotes.quote("alice" + plan, plan);
                }
            });
            assertThat(log.lines())
                    .containsExactly(
                            "Rate limit 'quotes' has no plan 'fre'; applying the limit's own numbers. Did you mean 'free'?"
                                    + " Its plans: free, free-trial, patient, pro, staff, strict, watched."
                                    + " Logged once for this plan.",
                            "Rate limit 'quotes' has no plan 'gold'; applying the limit's own numbers."
                                    + " Its plans: free, free-trial, patient, pro, staff, strict, watched."
                                    + " Logged once for this plan.",
                            "Rate limit 'quotes' has no plan of this name; applying the limit's own numbers."
                                    + " Its plans: free, free-trial, patient, pro, staff, strict, watched."
                                    + " Logged once for this plan.");
        }
    }

    @Test
    void mistakeOfTheApplicationIsLoggedAfterManyUnknownNamesOfClients() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.plans")) {
            runner.run(context -> {
                Quotes quotes = context.getBean(Quotes.class);
                for (int plan = 0; plan < 100; plan++) {
                    quotes.quote("alice" + plan, "unknown" + plan);
                }
                assertThat(log.lines()).hasSize(20);
                for (int plan = 0; plan < 100; plan++) {
                    quotes.computed(
                            "bob" + plan, RateLimitPlan.named("invalid" + plan).capacity(-1));
                    quotes.computed("bob" + plan, RateLimitPlan.named("silver" + plan));
                }
            });
            assertThat(log.lines()).hasSize(40);
            assertThat(log.lines().subList(20, 22))
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith("The numbers of plan 'invalid0'"),
                            line -> assertThat(line).startsWith("Rate limit 'quotes' has no plan 'silver0'"));
        }
    }

    @Test
    void callerWhosePlanIsReadFromNullHasTheLimitsOwnNumbersAndOtherFailuresAreThoseOfTheCall() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.account(null);
            assertThat(context.getBean(LimitsOfCalls.class).last().capacity()).isEqualTo(4);
            quotes.account(new Account("pro"));
            assertThat(context.getBean(LimitsOfCalls.class).last().capacity()).isEqualTo(6);
            assertThatExceptionOfType(RateLimitExpressionException.class)
                    .isThrownBy(() -> quotes.account(new Account(null) {
                        @Override
                        public Object plan() {
                            throw new IllegalStateException("secret");
                        }
                    }))
                    .withMessageNotContaining("secret");
            assertThatExceptionOfType(RateLimitExpressionException.class)
                    .isThrownBy(() -> quotes.account(new Account(List.of("pro"))))
                    .withMessageContaining("planExpression \"#account.plan()\" must return the name of a plan");
        });
    }

    @Test
    void configurationReplacesTheExpressionAndPlansOfOtherReturnTypesApplyToo() {
        runner.withPropertyValues(
                        "ratelimit.limits.quotes.plan-expression='pro'",
                        "ratelimit.limits.later.plan-expression='small'",
                        "ratelimit.limits.later.plans.small.capacity=1")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    quotes.quote("alice", "free");
                    assertThat(context.getBean(LimitsOfCalls.class).last().capacity())
                            .isEqualTo(6);
                    assertThat(quotes.later().join()).isEqualTo("later");
                    assertRejected("later", quotes.later());
                    assertRejected("later", quotes.reactive().toFuture());
                });
    }

    @Test
    void defaultExpressionIsForLimitsWithPlansAndAKey() {
        runner.withPropertyValues(
                        "ratelimit.defaults.plan-expression='pro'", "ratelimit.limits.keyed.plans.pro.capacity=1")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    quotes.keyed("alice");
                    assertRejected("keyed", () -> quotes.keyed("alice"));
                    quotes.quote("alice", "free");
                    assertThat(context.getBean(LimitsOfCalls.class).last().capacity())
                            .isEqualTo(2);
                    assertThat(quotes.later().join()).isEqualTo("later");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "plans.pro.capacity=0 | ratelimit.limits.quotes.plans.pro.capacity must be from 1 to",
                "plans.pro.rate=often | ratelimit.limits.quotes.plans.pro.rate must be",
                "plans.pro.max-wait=-1s | ratelimit.limits.quotes.plans.pro.max-wait must not be negative (was -1s).",
                "plans.pro.block-for=1m,0 | ratelimit.limits.quotes.plans.pro.block-for must be positive (was 0s).",
                "plans.pro.capcity=5 | ratelimit.limits.quotes.plans.pro.capcity",
                "plan-expression=None | ratelimit.limits.quotes.plan-expression \"None\" names 'None'",
                "plan-expression=#absent | ratelimit.limits.quotes.plan-expression \"#absent\" names #absent",
                "plan-resolver=nothing | ratelimit.limits.quotes.plan-resolver must be the name of a RateLimitPlanResolver"
            })
    void mistakeStopsTheStartUpAndNamesThePlace(String property, String report) {
        runner.withPropertyValues("ratelimit.limits.quotes." + property)
                .run(context -> assertThat(analysis(context).getDescription()).contains(report.strip()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.limits.keyed.plans.pro.capacity=1 | keyed",
                "ratelimit.limits.later.plans.pro.capacity=1 | later"
            })
    void plansThatNoCallCanHaveStopTheStartUp(String property, String limit) {
        runner.withPropertyValues(property)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits." + limit + ".plans must not be set without a plan-expression or a"
                                + " plan-resolver, because all calls have the limit's own numbers then (was pro)."));
        runner.withPropertyValues(property, "ratelimit.limits." + limit + ".plan-expression=none")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withPropertyValues(property, "ratelimit.partial-context=true")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** Methods and code share the buckets, and code alone names plans. */
    @Test
    void methodsHaveTheLimitsOwnNumbersIfOnlyCodeNamesPlans() {
        runner.withPropertyValues(
                        "ratelimit.limits.quotes.plan-expression=none", "ratelimit.limits.later.plan-expression=none")
                .run(context -> {
                    context.getBean(Quotes.class).quote("alice", "free");
                    assertThat(context.getBean(LimitsOfCalls.class).last().capacity())
                            .isEqualTo(4);
                    assertThat(context.getBean(Quotes.class).later().join()).isEqualTo("later");
                    RateLimiter quotes =
                            context.getBean(RateLimiterRegistry.class).get("quotes");
                    assertThat(quotes.withPlan("pro").tryAcquire("alice").remaining())
                            .isEqualTo(4);
                });
    }

    @Test
    void codeNamesPlans() {
        runner.withPropertyValues(
                        "ratelimit.limits.exports.rate=4/h",
                        "ratelimit.limits.exports.plans.free-trial.capacity=2",
                        "ratelimit.limits.exports.plans.pro.capacity=6",
                        "ratelimit.limits.exports.plans.staff.enabled=false")
                .run(context -> {
                    RateLimiter exports =
                            context.getBean(RateLimiterRegistry.class).get("exports");
                    RateLimiter trial = exports.withPlan("freeTrial");
                    assertThat(trial.tryAcquire("alice", 2).remaining()).isZero();
                    assertThat(trial.tryAcquire("alice").allowed()).isFalse();
                    assertThat(exports.peek("alice").remaining()).isEqualTo(2);
                    assertThat(exports.withPlan("pro")
                                    .tryAcquireAsync("alice", 4)
                                    .toCompletableFuture()
                                    .join()
                                    .capacity())
                            .isEqualTo(6);
                    assertThat(trial.withPlan("staff").tryAcquire("alice").allowed())
                            .isTrue();
                    for (String none : new String[] {null, "", "unknown"}) {
                        assertThat(trial.withPlan(none).peek("bob").capacity()).isEqualTo(4);
                    }
                    context.getBean(RateLimitAdmin.class)
                            .forPlan("free-trial")
                            .override(
                                    "exports",
                                    RateLimitOverride.builder().capacity(3).build());
                    assertThat(trial.peek("bob").capacity()).isEqualTo(3);
                    trial.reset("alice");
                    assertThat(exports.peek("alice").remaining()).isEqualTo(4);
                });
    }

    @Test
    void planCannotWaitInAnAlgorithmThatCannotReserve() {
        runner.withPropertyValues("ratelimit.limits.quotes.algorithm=fixed-window")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.quotes.plans.patient.max-wait must be 0 for FIXED_WINDOW"));
    }

    @Test
    void leaseOfAPlanIsNoLargerThanItsCapacity() {
        RateLimit limit =
                RateLimit.named("leased").capacity(10).rate("10/s").lease(5).build();
        assertThat(limit.definition()
                        .with(RateLimitPlan.named("small").capacity(2))
                        .lease())
                .isEqualTo(2);
        assertThat(limit.definition()
                        .with(RateLimitPlan.named("large").capacity(20))
                        .lease())
                .isEqualTo(5);
    }

    static class Quotes {

        @RateLimited(name = "quotes", capacity = 4, rate = "10/h", keyExpression = "#user", planExpression = "#plan")
        public void quote(String user, String plan) {}

        @RateLimited(name = "quotes", capacity = 4, rate = "10/h", keyExpression = "#user", planExpression = "#plan")
        public void computed(String user, RateLimitPlan plan) {}

        @RateLimited(name = "quotes", capacity = 4, rate = "10/h", planExpression = "#account.plan()")
        public void account(Account account) {}

        @RateLimited(name = "keyed", rate = "10/h", keyExpression = "#user")
        public void keyed(String user) {}

        @RateLimited(name = "later", rate = "10/h", planExpression = "")
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("later");
        }

        @RateLimited(name = "later", rate = "10/h", planExpression = "")
        public Mono<String> reactive() {
            return Mono.just("later");
        }
    }

    public static class Account {

        private final Object plan;

        Account(Object plan) {
            this.plan = plan;
        }

        public Object plan() {
            return plan;
        }
    }

    static final class LimitsOfCalls implements RateLimitListener {

        private final List<RateLimit> all = new ArrayList<>();

        private final List<Outcome> outcomes = new ArrayList<>();

        @Override
        public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
            all.add(charge.limit());
            outcomes.add(outcome);
        }

        RateLimit last() {
            return all.get(all.size() - 1);
        }
    }
}

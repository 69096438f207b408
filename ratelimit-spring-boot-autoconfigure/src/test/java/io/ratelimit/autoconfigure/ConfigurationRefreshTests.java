package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.spi.RateLimitCustomizer;
import io.ratelimit.testing.LogRecorder;
import java.time.ZoneId;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;

/** Properties that Spring Cloud has refreshed apply to limits in use. */
class ConfigurationRefreshTests {

    private final ApplicationContextRunner application = LimitedContexts.inMemory()
            .withBean(Quotes.class)
            .withPropertyValues("ratelimit.limits.quotes.capacity=2", "ratelimit.limits.declared.rate=1/h");

    @Test
    void changedPropertiesApplyAndUsedPermitsStayUsed() {
        application.run(context -> {
            var limiter = context.getBean(RateLimiterRegistry.class).get("quotes");
            assertThat(limiter.allCallers().tryAcquire(2).remaining()).isZero();
            refresh(context, "ratelimit.limits.quotes.capacity=3", "ratelimit.limits.declared.rate=7/h");
            assertThat(limiter.allCallers().tryAcquire().remaining()).isZero();
            assertThat(effective(context, "declared").capacity()).isEqualTo(7);
            assertThat(context.getBean(RateLimitAdmin.class).status("quotes").origins())
                    .extractingByKey("capacity")
                    .extracting(Origin::source)
                    .isEqualTo(Source.CONFIGURATION);
        });
    }

    @Test
    void numbersOfPlansApplyAndUsedPermitsStayUsed() {
        application
                .withPropertyValues("ratelimit.limits.declared.plans.pro.rate=4/h")
                .run(context -> {
                    RateLimiter declared =
                            context.getBean(RateLimiterRegistry.class).get("declared");
                    RateLimiter pro = declared.withPlan("pro");
                    assertThat(pro.allCallers().tryAcquire(4).remaining()).isZero();
                    assertThat(pro.allCallers().tryAcquire().allowed()).isFalse();
                    refresh(
                            context,
                            "ratelimit.limits.declared.plans.pro.rate=6/h",
                            "ratelimit.limits.declared.plans.new.capacity=7");
                    assertThat(pro.allCallers().tryAcquire().remaining()).isEqualTo(1);
                    assertThat(declared.withPlan("new").allCallers().peek().remaining())
                            .isEqualTo(2);
                    refresh(context, "ratelimit.limits.declared.plans.pro.rate=0/h");
                    assertThat(pro.allCallers().peek().capacity()).isEqualTo(6);
                });
    }

    @Test
    void defaultsAndSwitchesApply() {
        application.run(context -> {
            refresh(context, "ratelimit.dry-run=true", "ratelimit.limits.declared.enabled=false");
            assertThat(effective(context, "quotes").dryRun()).isTrue();
            assertThat(effective(context, "declared").enabled()).isFalse();
        });
    }

    @Test
    void overrideStaysAboveTheConfiguration() {
        application.run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            admin.override("quotes", RateLimitOverride.builder().capacity(50).build());
            refresh(context, "ratelimit.limits.quotes.capacity=3", "ratelimit.limits.quotes.dry-run=true");
            assertThat(effective(context, "quotes").capacity()).isEqualTo(50);
            assertThat(effective(context, "quotes").dryRun()).isTrue();
            admin.removeOverride("quotes");
            assertThat(effective(context, "quotes").capacity()).isEqualTo(3);
        });
    }

    /** As after a restart. */
    @ParameterizedTest
    @CsvSource({
        "capacity=1, 1, Z, true",
        "zone=Europe/Berlin, 20, Europe/Berlin, true",
        "plans.pro.dry-run=false, 20, Z, false"
    })
    void propertyThatAloneChangesNoNumberAppliesBelowAnOverride(
            String property, long capacity, ZoneId zone, boolean dryRunOfPlan) {
        application
                .withPropertyValues(
                        "ratelimit.limits.declared.algorithm=fixed-window",
                        "ratelimit.limits.declared.dry-run=false",
                        "ratelimit.limits.declared.plans.pro.enabled=true",
                        "ratelimit.limits.declared.plan-expression=none")
                .run(context -> {
                    refresh(context, "ratelimit.limits.declared." + property);
                    RateLimitOverride override = RateLimitOverride.builder()
                            .rate("20/h")
                            .dryRun(true)
                            .build();
                    context.getBean(RateLimitAdmin.class).override("declared", override);
                    RateLimit limit = effective(context, "declared");
                    assertThat(limit.capacity()).isEqualTo(capacity);
                    assertThat(limit.zone()).isEqualTo(zone);
                    assertThat(limit.plans().get("pro").dryRun()).isEqualTo(dryRunOfPlan);
                });
    }

    /** What is kept for a limit, such as remembered rejections and leases, stays. */
    @Test
    void refreshThatChangesNothingKeepsTheLimits() {
        application
                .withPropertyValues(
                        "ratelimit.defaults.zone=Europe/Berlin",
                        "ratelimit.dry-run=true",
                        "ratelimit.limits.declared.algorithm=fixed-window",
                        "ratelimit.limits.declared.block-for=1m, 10m",
                        "ratelimit.limits.declared.plans.pro.rate=2/day",
                        "ratelimit.limits.declared.plan-expression=none")
                .withBean(RateLimitCustomizer.class, () -> (name, limit) -> limit.onStoreFailure(OnStoreFailure.ALLOW))
                .run(context -> {
                    RateLimit declared = effective(context, "declared");
                    RateLimit quotes = effective(context, "quotes");
                    refresh(context, "unrelated=1");
                    assertThat(effective(context, "declared")).isSameAs(declared);
                    assertThat(effective(context, "quotes")).isSameAs(quotes);
                });
    }

    @Test
    void invalidValueIsRefusedWithAllOthers() {
        application.run(context -> {
            try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                refresh(context, "ratelimit.limits.quotes.capacity=3", "ratelimit.limits.declared.rate=often");
                assertThat(log.text())
                        .contains("WARNING Refreshed properties of rate limits are invalid (")
                        .contains("ratelimit.limits.declared.rate must")
                        .contains("keeping the present ones");
                refresh(context, "ratelimit.limits.declared.rate=1/h", "ratelimit.limits.declared.capacity=many");
                assertThat(log.text()).contains("ratelimit.limits.declared.capacity must be a whole number");
            }
            assertThat(effective(context, "quotes").capacity()).isEqualTo(2);
            refresh(context, "ratelimit.limits.declared.capacity=4");
            assertThat(effective(context, "quotes").capacity()).isEqualTo(3);
        });
    }

    /** As at the start-up. */
    @Test
    void exceptionsOfTheDefaultsDoNotApplyToALimitThatGetsALease() {
        application
                .withBean(Failing.class)
                .withPropertyValues("ratelimit.defaults.refund-on=java.lang.IllegalStateException")
                .run(context -> {
                    refresh(context, "ratelimit.limits.failing.lease=2");
                    assertThatIllegalStateException().isThrownBy(context.getBean(Failing.class)::fail);
                    assertThat(context.getBean(RateLimiterRegistry.class)
                                    .get("failing")
                                    .allCallers()
                                    .peek()
                                    .remaining())
                            .isEqualTo(4);
                });
    }

    /** As at the start-up: nothing would release the permits. */
    @Test
    void algorithmThatHoldsPermitsIsRefusedWhereTheEndOfACallIsNotObserved() {
        application.withBean(Later.class).run(context -> {
            RateLimiter later = context.getBean(RateLimiterRegistry.class).get("later");
            try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                refresh(context, "ratelimit.limits.later.algorithm=concurrency", "ratelimit.limits.later.rate=");
                assertThat(log.text())
                        .contains("the end of a call that returns java.util.concurrent.Future cannot be observed")
                        .contains("keeping the present ones");
            }
            var unused = context.getBean(Later.class).later();
            assertThat(later.allCallers().tryAcquire().remaining()).isEqualTo(3);
        });
    }

    static class Later {

        @RateLimited(name = "later", capacity = 5, rate = "5/h")
        public Future<String> later() {
            return CompletableFuture.completedFuture("");
        }
    }

    /** As at the start-up: the calls would not have their numbers. */
    @Test
    void plansOfALimitWithoutAPlanExpressionAreRefused() {
        application.run(context -> {
            try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                refresh(context, "ratelimit.limits.quotes.plans.gold.capacity=9");
                assertThat(log.text())
                        .contains("ratelimit.limits.quotes.plans must not be set without a plan-expression")
                        .contains("keeping the present ones");
            }
            assertThat(effective(context, "quotes").plans()).isEmpty();
        });
    }

    @Test
    void nameOfNoLimitIsRefusedWithAllOthers() {
        application.run(context -> {
            try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                refresh(context, "ratelimit.limits.quotes.capacity=3", "ratelimit.limits.quote.dry-run=true");
                assertThat(log.text())
                        .contains("ratelimit.limits.quote must name a declared limit, or have a rate.")
                        .contains("ratelimit.limits.quotes")
                        .contains("keeping the present ones");
            }
            assertThat(effective(context, "quotes").capacity()).isEqualTo(2);
        });
    }

    @Test
    void newLimitIsIgnoredUntilARestartAndTheLogSaysSo() {
        application.run(context -> {
            try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                refresh(context, "ratelimit.limits.quotes.capacity=3");
                assertThat(log.text()).doesNotContain("declare");
                refresh(context, "ratelimit.limits.exports.rate=1/h", "ratelimit.limits.quotes.capacity=4");
                refresh(context, "ratelimit.limits.quotes.capacity=5", "ratelimit.limits.imports.rate=1/h");
                assertThat(log.lines())
                        .filteredOn(line -> line.contains("declare"))
                        .containsExactly(ignored("exports"), ignored("imports"));
            }
            assertThat(effective(context, "quotes").capacity()).isEqualTo(5);
            assertThat(context.getBean(RateLimiterRegistry.class).names()).doesNotContain("exports", "imports");
        });
    }

    private static String ignored(String limit) {
        return "Refreshed properties declare new rate limits (ratelimit.limits." + limit
                + "); ignoring them until the application is restarted, because limits are declared at startup."
                + " The other properties apply";
    }

    private static RateLimit effective(AssertableApplicationContext context, String limit) {
        return context.getBean(RateLimitAdmin.class).status(limit).effective();
    }

    private static void refresh(AssertableApplicationContext context, String... properties) {
        TestPropertyValues.of(properties).applyTo(context.getSourceApplicationContext());
        context.publishEvent(new EnvironmentChangeEvent(context));
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/h")
        public void quote() {}
    }

    static class Failing {

        @RateLimited(name = "failing", rate = "5/h")
        public void fail() {
            throw new IllegalStateException("on purpose");
        }
    }
}

package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** The configuration wins over the annotation, attribute by attribute. */
class PropertyPrecedenceTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Quotes.class);

    @Test
    void annotationAppliesWhereNothingIsSaid() {
        runner.run(
                context -> assertThat(limit(context, "quote-limit")).hasToString("TOKEN_BUCKET, capacity 20 at 10/s"));
    }

    @Test
    void eachAttributeIsOverriddenByItself() {
        runner.withPropertyValues("ratelimit.limits.quote-limit.capacity=50")
                .run(context ->
                        assertThat(limit(context, "quote-limit")).hasToString("TOKEN_BUCKET, capacity 50 at 10/s"));
        runner.withPropertyValues("ratelimit.limits.quote-limit.rate=5/m")
                .run(context ->
                        assertThat(limit(context, "quote-limit")).hasToString("TOKEN_BUCKET, capacity 20 at 5/m"));
        runner.withPropertyValues("ratelimit.limits.quote-limit.algorithm=fixed-window")
                .run(context ->
                        assertThat(limit(context, "quote-limit").algorithm()).isEqualTo(Algorithm.FIXED_WINDOW));
        runner.withPropertyValues("ratelimit.limits.quote-limit.on-store-failure=throw")
                .run(context -> assertThat(limit(context, "quote-limit").onStoreFailure())
                        .isEqualTo(OnStoreFailure.THROW));
    }

    @Test
    void leaseIsWhatTheConfigurationSays() {
        runner.run(context -> assertThat(limit(context, "quote-limit").lease()).isZero());
        runner.withPropertyValues("ratelimit.limits.quote-limit.lease=5")
                .run(context ->
                        assertThat(limit(context, "quote-limit").lease()).isEqualTo(5));
        runner.withPropertyValues("ratelimit.limits.quote-limit.lease=21")
                .run(context -> assertThat(analysis(context))
                        .satisfies(
                                report -> assertThat(report.getDescription())
                                        .contains(
                                                "ratelimit.limits.quote-limit.lease must be from 0 to the capacity 20 (was 21)."))
                        .satisfies(report ->
                                assertThat(report.getAction()).isEqualTo("Remove it, or use a smaller one.")));
    }

    @Test
    void capacityThatNothingSaysIsTheNumberOfTheRateThatIsInForce() {
        runner.withPropertyValues("ratelimit.limits.plain.rate=7/m")
                .run(context -> assertThat(limit(context, "plain").capacity()).isEqualTo(7));
    }

    @Test
    void rateMayStandInTheConfigurationAlone() {
        runner.withBean(WithoutRate.class)
                .withPropertyValues("ratelimit.limits.without-rate.rate=3/s")
                .run(context ->
                        assertThat(limit(context, "without-rate")).hasToString("TOKEN_BUCKET, capacity 3 at 3/s"));
    }

    @Test
    void placeholdersOfTheAnnotationsRateAreResolved() {
        runner.withBean(Placeholder.class)
                .withPropertyValues("acme.rate=9/h")
                .run(context ->
                        assertThat(limit(context, "placeholder")).hasToString("TOKEN_BUCKET, capacity 9 at 9/h"));
        runner.withBean(Placeholder.class)
                .run(context ->
                        assertThat(limit(context, "placeholder")).hasToString("TOKEN_BUCKET, capacity 2 at 2/s"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"quote-limit", "quoteLimit", "QUOTELIMIT", "quote_limit", "quotelimit"})
    void namesAreMatchedAsSpringBootMatchesThem(String spelling) {
        runner.withPropertyValues("ratelimit.limits." + spelling + ".capacity=50")
                .run(context -> {
                    assertThat(limit(context, "quote-limit").capacity()).isEqualTo(50);
                    assertThat(context.getBean(RecordingListener.class).limits())
                            .containsExactlyInAnyOrder("quote-limit", "plain");
                });
    }

    @Test
    void environmentVariablesOverrideTheFile() {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-systemEnvironment",
                                Map.of(
                                        "RATELIMIT_LIMITS_QUOTELIMIT_CAPACITY", "60",
                                        "RATELIMIT_LIMITS_QUOTELIMIT_KEYEXPRESSION", "#user"))))
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new MapPropertySource(
                                "file",
                                Map.of(
                                        "ratelimit.limits.quote-limit.capacity", "50",
                                        "ratelimit.limits.quote-limit.rate", "5/s"))))
                .run(context -> {
                    assertThat(limit(context, "quote-limit")).hasToString("TOKEN_BUCKET, capacity 60 at 5/s");
                    context.getBean(Quotes.class).quote("alice");
                    assertThat(context.getBean(RecordingListener.class).keys()).isEqualTo(List.of("alice"));
                });
    }

    /** Environment variables have no dashes, so that a limit or a plan has two spellings. */
    @Test
    void environmentVariablesOverridePlansOfTheFileAttributeByAttribute() {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-systemEnvironment",
                                Map.of(
                                        "RATELIMIT_LIMITS_MYLIMIT_CAPACITY", "60",
                                        "RATELIMIT_LIMITS_MYLIMIT_PLANS_GOLDPLAN_CAPACITY", "600"))))
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new MapPropertySource(
                                "file",
                                Map.of(
                                        "ratelimit.limits.my-limit.capacity", "50",
                                        "ratelimit.limits.my-limit.rate", "5/s",
                                        "ratelimit.limits.my-limit.plan-expression", "none",
                                        "ratelimit.limits.my-limit.plans.gold-plan.capacity", "500",
                                        "ratelimit.limits.my-limit.plans.gold-plan.rate", "50/s",
                                        "ratelimit.limits.my-limit.plans.GoldPlan.dry-run", "true"))))
                .run(context -> {
                    RateLimit limit = limit(context, "my-limit");
                    assertThat(limit).hasToString("TOKEN_BUCKET, capacity 60 at 5/s, plans gold-plan");
                    assertThat(limit.name()).isEqualTo("my-limit");
                    assertThat(limit.plans()).containsOnlyKeys("gold-plan");
                    RateLimit plan = limit.plans().get("gold-plan");
                    assertThat(plan.capacity()).isEqualTo(600);
                    assertThat(plan.rate()).hasToString("50/s");
                    assertThat(plan.dryRun()).isTrue();
                });
    }

    @Test
    void expressionsAreOverridden() {
        runner.withPropertyValues(
                        "ratelimit.limits.plain.key-expression=#user",
                        "ratelimit.limits.plain.permits=#user.length()",
                        "ratelimit.limits.plain.condition=#user != 'root'")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    quotes.plain("root");
                    quotes.plain("root");
                    quotes.plain("me");
                    assertRejected("plain", () -> quotes.plain("you"));
                    assertThat(context.getBean(RecordingListener.class).outcomes())
                            .containsExactly("plain ALLOWED", "plain REJECTED");
                    assertThat(context.getBean(RecordingListener.class)
                                    .charges()
                                    .get(0)
                                    .permits())
                            .isEqualTo(2);
                });
    }

    @Test
    void keyExpressionThatSaysAllCallersMakesOneBucketOfAll() {
        runner.withPropertyValues("ratelimit.limits.quote-limit.key-expression=all-callers")
                .run(context -> {
                    context.getBean(Quotes.class).quote("alice");
                    assertThat(context.getBean(RecordingListener.class).keys()).containsOnlyNulls();
                });
    }

    @Test
    void disabledLimitLimitsNobody() {
        runner.withPropertyValues("ratelimit.limits.plain.enabled=false").run(context -> {
            for (int i = 0; i < 100; i++) {
                context.getBean(Quotes.class).plain("alice");
            }
            assertThat(context.getBean(RecordingListener.class).outcomes()).isEmpty();
        });
    }

    @Test
    void dryRunOfOneLimitLeavesTheOthers() {
        runner.withPropertyValues("ratelimit.limits.plain.dry-run=true").run(context -> {
            assertThat(limit(context, "plain").dryRun()).isTrue();
            assertThat(limit(context, "quote-limit").dryRun()).isFalse();
        });
    }

    @Test
    void limitCanBeExemptFromTheDryRunOfAll() {
        runner.withPropertyValues("ratelimit.dry-run=true", "ratelimit.limits.plain.dry-run=false")
                .run(context -> {
                    assertThat(limit(context, "plain").dryRun()).isFalse();
                    assertThat(limit(context, "quote-limit").dryRun()).isTrue();
                });
    }

    private static RateLimit limit(ApplicationContext context, String name) {
        return context.getBean(LimitCatalog.class).find(name).orElseThrow();
    }

    static class Quotes {

        @RateLimited(name = "quote-limit", capacity = 20, rate = "10/s", keyExpression = "'of ' + #user")
        public void quote(String user) {}

        @RateLimited(name = "plain", rate = "2/s")
        public void plain(String user) {}
    }

    static class WithoutRate {

        @RateLimited(name = "without-rate")
        public void call() {}
    }

    static class Placeholder {

        @RateLimited(name = "placeholder", rate = "${acme.rate:2/s}")
        public void call() {}
    }
}

package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.Refill;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Defaults of all limits apply to what neither the configuration of a limit nor its declaration sets. */
class DefaultsTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Calls.class);

    @ParameterizedTest
    @CsvSource({
        "algorithm=sliding-window, 'SLIDING_WINDOW, capacity 2 at 2/s'",
        "refill=interval, 'TOKEN_BUCKET, capacity 2 at 2/s, refill INTERVAL'",
        "max-wait=500ms, 'TOKEN_BUCKET, capacity 2 at 2/s, maxWait 500ms'",
        "'block-for=1m,10m', 'TOKEN_BUCKET, capacity 2 at 2/s, blockFor 1m then 10m'",
        "scope=instance, 'TOKEN_BUCKET, capacity 2 at 2/s, scope INSTANCE'",
        "lease=2, 'TOKEN_BUCKET, capacity 2 at 2/s, lease 2'",
        "dry-run=true, 'TOKEN_BUCKET, capacity 2 at 2/s, dry run'"
    })
    void applyToAnAttributeThatNothingElseSets(String property, String limit) {
        // The window of the other limit has no refill.
        runner.withPropertyValues("ratelimit.defaults." + property, "ratelimit.limits.own.refill=continuous")
                .run(context -> assertThat(limit(context, "plain")).hasToString(limit));
    }

    @Test
    void annotationWinsOverDefaultsAndTheConfigurationOfTheLimitOverBoth() {
        ApplicationContextRunner defaults =
                runner.withPropertyValues("ratelimit.defaults.algorithm=sliding-window", "ratelimit.defaults.rate=9/s");
        defaults.run(context -> {
            assertThat(limit(context, "own").algorithm()).isEqualTo(Algorithm.FIXED_WINDOW);
            assertThat(limit(context, "plain")).hasToString("SLIDING_WINDOW, capacity 2 at 2/s");
        });
        defaults.withPropertyValues("ratelimit.limits.own.algorithm=token-bucket", "ratelimit.limits.own.rate=3/s")
                .run(context -> assertThat(limit(context, "own")).hasToString("TOKEN_BUCKET, capacity 3 at 3/s"));
    }

    @Test
    void beanOfALimitWinsOverDefaultsWithWhatItSetsEvenIfThatIsTheBuiltInValue() {
        runner.withBean(
                        "explicit",
                        RateLimit.class,
                        () -> RateLimit.named("explicit")
                                .algorithm(Algorithm.TOKEN_BUCKET)
                                .refill(Refill.CONTINUOUS)
                                .onStoreFailure(OnStoreFailure.LOCAL)
                                .dryRun(false)
                                .rate("1/s")
                                .build())
                .withBean(
                        "open",
                        RateLimit.class,
                        () -> RateLimit.named("open").rate("1/s").build())
                .withPropertyValues(
                        "ratelimit.defaults.algorithm=fixed-window",
                        "ratelimit.defaults.dry-run=true",
                        "ratelimit.defaults.on-store-failure=reject")
                .run(context -> {
                    assertThat(limit(context, "explicit")).hasToString("TOKEN_BUCKET, capacity 1 at 1/s");
                    assertThat(limit(context, "explicit").onStoreFailure()).isEqualTo(OnStoreFailure.LOCAL);
                    assertThat(limit(context, "open")).hasToString("FIXED_WINDOW, capacity 1 at 1/s, dry run");
                    assertThat(limit(context, "open").onStoreFailure()).isEqualTo(OnStoreFailure.REJECT);
                });
    }

    @Test
    void rateIsThatOfAnnotationsWithoutOne() {
        runner.withBean(WithoutRate.class)
                .withPropertyValues("ratelimit.defaults.rate=7/m")
                .run(context ->
                        assertThat(limit(context, "without-rate")).hasToString("TOKEN_BUCKET, capacity 7 at 7/m"));
    }

    /** Otherwise a misspelled name would declare a limit that limits nothing. */
    @Test
    void rateDoesNotDeclareALimit() {
        runner.withPropertyValues("ratelimit.defaults.rate=7/m", "ratelimit.limits.plian.capacity=5")
                .run(context -> assertThat(analysis(context).getAction()).contains("ratelimit.limits.plain"));
    }

    @Test
    void holdIsThatOfConcurrencyLimits() {
        ApplicationContextRunner held = runner.withPropertyValues(
                "ratelimit.limits.exports.algorithm=concurrency", "ratelimit.limits.exports.capacity=2");
        held.withPropertyValues(
                        "ratelimit.defaults.hold=2m",
                        "ratelimit.limits.imports.algorithm=concurrency",
                        "ratelimit.limits.imports.capacity=2",
                        "ratelimit.limits.imports.hold=45s")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    LimitCatalog catalog = context.getBean(LimitCatalog.class);
                    assertThat(catalog.find("exports").get().hold()).hasMinutes(2);
                    assertThat(catalog.find("imports").get().hold()).hasSeconds(45);
                });
        runner.withPropertyValues("ratelimit.defaults.hold=10ms")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.defaults.hold must be from 1s to 1d (was 10ms)"));
    }

    @Test
    void defaultThatNoLimitTakesStopsTheStartUpIfItIsInvalid() {
        LimitedContexts.inMemory()
                .withPropertyValues("ratelimit.defaults.max-wait=-1s")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.defaults.max-wait must not be negative (was -1s)"));
    }

    @Test
    void generalPropertiesAreTheDefaultsOfDefaults() {
        ApplicationContextRunner general =
                runner.withPropertyValues("ratelimit.dry-run=true", "ratelimit.on-store-failure=throw");
        general.run(context -> {
            assertThat(limit(context, "plain").dryRun()).isTrue();
            assertThat(limit(context, "plain").onStoreFailure()).isEqualTo(OnStoreFailure.THROW);
        });
        general.withPropertyValues("ratelimit.defaults.dry-run=false", "ratelimit.defaults.on-store-failure=allow")
                .run(context -> {
                    assertThat(limit(context, "plain").dryRun()).isFalse();
                    assertThat(limit(context, "plain").onStoreFailure()).isEqualTo(OnStoreFailure.ALLOW);
                });
    }

    @Test
    void expressionsApplyToLimitsWithoutTheirOwn() {
        runner.withPropertyValues(
                        "ratelimit.defaults.key-expression=#user", "ratelimit.defaults.condition=#user != 'root'")
                .run(context -> {
                    Calls calls = context.getBean(Calls.class);
                    calls.plain("alice");
                    calls.plain("root");
                    calls.own("bob");
                    assertThat(context.getBean(RecordingListener.class).keys()).containsExactly("alice", "own bob");
                });
    }

    @Test
    void annotationAndConfigurationCanAskForOneBucketOfAllCallers() {
        runner.withBean(Shared.class)
                .withPropertyValues(
                        "ratelimit.defaults.key-expression=#user", "ratelimit.limits.plain.key-expression=all-callers")
                .run(context -> {
                    context.getBean(Calls.class).plain("alice");
                    context.getBean(Shared.class).call("alice");
                    assertThat(context.getBean(RecordingListener.class).keys()).containsExactly(null, null);
                });
    }

    @Test
    void failuresOfAllMethodsAreRefunded() {
        runner.withPropertyValues("ratelimit.defaults.refund-on=java.lang.IllegalStateException")
                .run(context -> {
                    Calls calls = context.getBean(Calls.class);
                    for (int i = 0; i < 5; i++) {
                        assertThat(catchThrowable(calls::fail)).isInstanceOf(IllegalStateException.class);
                    }
                });
    }

    @Test
    void defaultThatDoesNotFitALimitStopsTheStartUpAndTellsHowToExemptIt() {
        runner.withPropertyValues("ratelimit.defaults.max-wait=500ms")
                .withBean(Window.class)
                .run(context -> {
                    assertThat(analysis(context).getDescription())
                            .contains("Where: " + Window.class.getName() + ".call()")
                            .contains("What: ratelimit.defaults.max-wait must be 0 for FIXED_WINDOW");
                    assertThat(analysis(context).getAction())
                            .endsWith(" For this limit alone, set ratelimit.limits.window.max-wait.");
                });
        runner.withPropertyValues("ratelimit.defaults.max-wait=500ms", "ratelimit.limits.window.max-wait=0")
                .withBean(Window.class)
                .run(context -> assertThat(limit(context, "window").maxWait()).isEqualTo(Duration.ZERO));
    }

    private static RateLimit limit(ApplicationContext context, String name) {
        return context.getBean(LimitCatalog.class).find(name).orElseThrow();
    }

    static class Calls {

        @RateLimited(name = "plain", rate = "2/s")
        public void plain(String user) {}

        @RateLimited(
                name = "own",
                rate = "2/s",
                algorithm = Algorithm.FIXED_WINDOW,
                maxWait = "0",
                keyExpression = "'own ' + #user")
        public void own(String user) {}

        @RateLimited(name = "failing", rate = "2/s", keyExpression = "'all'", condition = "true")
        public void fail() {
            throw new IllegalStateException("no");
        }
    }

    static class WithoutRate {

        @RateLimited(name = "without-rate")
        public void call() {}
    }

    static class Shared {

        @RateLimited(name = "shared", rate = "2/s", keyExpression = "all-callers")
        public void call(String user) {}
    }

    static class Window {

        @RateLimited(name = "window", rate = "2/s", algorithm = Algorithm.FIXED_WINDOW)
        public void call() {}
    }
}

package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.LogRecorder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Limits of RateLimit beans and of the configuration alone, and the registry that hands them out. */
class DeclaredLimitTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    private final ApplicationContextRunner exports = runner.withBean(
            "exportLimit",
            RateLimit.class,
            () -> RateLimit.named("exports").capacity(2).rate("1/m").build());

    private final LogRecorder log = new LogRecorder("io.ratelimit");

    @AfterEach
    void stopRecording() {
        log.close();
    }

    @Test
    void beanDeclaresALimit() {
        exports.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("exports");
            assertThat(limiter.tryAcquire("alice", 2).allowed()).isTrue();
            assertThat(limiter.tryAcquire("alice").allowed()).isFalse();
            assertThat(limiter.tryAcquire("bob").allowed()).isTrue();
        });
    }

    @Test
    void configurationOverridesABean() {
        exports.withPropertyValues("ratelimit.limits.exports.capacity=5", "ratelimit.limits.exports.dry-run=true")
                .run(context -> {
                    RateLimiter limiter =
                            context.getBean(RateLimiterRegistry.class).get("exports");
                    assertThat(limiter.peek("alice").capacity()).isEqualTo(5);
                    assertThat(limiter.tryAcquire("alice", 6).allowed()).isTrue();
                });
    }

    @Test
    void configurationThatDoesNotFitABeanNamesBoth() {
        exports.withPropertyValues("ratelimit.limits.exports.rate=often").run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("Where: the RateLimit bean 'exportLimit'")
                    .contains("ratelimit.limits.exports.rate must be permits per period (was \"often\")");
        });
    }

    @Test
    void methodSharesTheLimitOfABeanThatSaysTheSame() {
        exports.withBean(Exports.class).run(context -> {
            context.getBean(Exports.class).export();
            context.getBean(Exports.class).export();
            assertRejected("exports", context.getBean(Exports.class)::export);
        });
    }

    @Test
    void beanAndMethodThatDisagreeStopTheStartUp() {
        exports.withBean(OtherExports.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("the RateLimit bean 'exportLimit'")
                        .contains(OtherExports.class.getName() + ".export()"));
    }

    @Test
    void configurationAloneDeclaresALimitAndSaysSo() {
        runner.withPropertyValues("ratelimit.limits.imports.rate=1/m").run(context -> {
            assertThat(log.text())
                    .contains("Rate limit 'imports': TOKEN_BUCKET, capacity 1 at 1/m; declared by the configuration"
                            + " alone");
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("imports");
            assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
            assertThat(limiter.tryAcquire("alice").allowed()).isFalse();
        });
    }

    @Test
    void limitOfAMethodIsNotDeclaredByTheConfigurationAlone() {
        runner.withBean(Exports.class)
                .withPropertyValues("ratelimit.limits.exports.rate=1/s")
                .run(context -> assertThat(log.text())
                        .contains("Rate limit 'exports': TOKEN_BUCKET, capacity 2 at 1/s, key all-callers, on "
                                + Exports.class.getName() + ".export()")
                        .doesNotContain("by the configuration alone"));
    }

    @Test
    void limitOfTheConfigurationAloneThatLooksLikeAnotherIsWarnedOf() {
        runner.withBean(
                        "quotes",
                        RateLimit.class,
                        () -> RateLimit.named("quotes").rate("1/s").build())
                .withPropertyValues("ratelimit.limits.quots.rate=5/s")
                .run(context -> assertThat(log.text())
                        .contains("'quots'")
                        .contains("declared by the configuration alone; did you mean 'quotes'?"));
    }

    @Test
    void registryCanBeAskedInAConstructor() {
        exports.withBean(Importer.class, "exports")
                .run(context -> assertThat(context.getBean(Importer.class)
                                .limiter
                                .tryAcquire("alice")
                                .allowed())
                        .isTrue());
    }

    @Test
    void unknownNameAskedForInAConstructorStopsTheStartUp() {
        exports.withBean(Importer.class, "exprots").run(context -> {
            FailureAnalysis analysis = analysis(context);
            assertThat(analysis.getDescription())
                    .contains("RateLimiterRegistry.get(\"exprots\") must be called with the name of a declared limit.");
            assertThat(analysis.getAction()).contains("did you mean 'exports'?");
        });
    }

    @Test
    void unknownNameAskedForLaterIsRefused() {
        exports.run(context -> assertThat(catchThrowable(
                        () -> context.getBean(RateLimiterRegistry.class).get("exprots")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is no limit 'exprots'; did you mean 'exports'?"));
    }

    static class Exports {

        @RateLimited(name = "exports", capacity = 2, rate = "1/m")
        public void export() {}
    }

    static class OtherExports {

        @RateLimited(name = "exports", capacity = 3, rate = "1/m")
        public void export() {}
    }

    static class Importer {

        private final RateLimiter limiter;

        Importer(RateLimiterRegistry registry, String name) {
            this.limiter = registry.get(name);
        }
    }
}

package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.Scope;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;

/** Two limits of one call that block keys in different stores are refused, however they come together. */
class JointLimitsTests {

    private static final String RULE =
            "blockFor must not be set for limits of one call that different stores decide (was set"
                    + " for 'own' with scope INSTANCE and 'shared' with scope SHARED).";

    private static final String FIX = "give these limits the same scope and the same redis.";

    private final ApplicationContextRunner application =
            LimitedContexts.inMemory().withBean(Quotes.class);

    private final WebApplicationContextRunner urls = LimitedContexts.inMemoryServlet()
            .withPropertyValues(
                    "ratelimit.limits.own.rate=5/s",
                    "ratelimit.limits.own.scope=instance",
                    "ratelimit.limits.own.block-for=1m",
                    "ratelimit.limits.own.key-expression=clientIp",
                    "ratelimit.limits.shared.rate=5/s",
                    "ratelimit.limits.shared.block-for=1m",
                    "ratelimit.limits.shared.key-expression=clientIp");

    @Test
    void methodStopsTheStartUp() {
        application
                .withPropertyValues("ratelimit.limits.own.block-for=1m", "ratelimit.limits.shared.block-for=10m")
                .run(context -> {
                    FailureAnalysis analysis = LimitedContexts.analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Quotes.quote")
                            .contains(RULE);
                    assertThat(analysis.getAction()).contains(FIX);
                });
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.limits.shared.plans.pro.block-for=10m, false",
        "ratelimit.limits.shared.block-for=0, true",
        "ratelimit.limits.shared.dry-run=true, true",
        "ratelimit.limits.shared.enabled=false, true",
        "ratelimit.limits.own.scope=shared, true",
    })
    void onlyLimitsThatBlockInDifferentStoresAreRefused(String property, boolean starts) {
        application
                .withPropertyValues("ratelimit.limits.own.block-for=1m")
                .withPropertyValues(
                        property.contains("plans")
                                ? "ratelimit.limits.shared.plan-expression='pro'"
                                : "ratelimit.limits.shared.block-for=10m")
                .withPropertyValues(property)
                .run(context -> assertThat(context.getStartupFailure() == null).isEqualTo(starts));
    }

    @ParameterizedTest
    @CsvSource({"eu, us, false", "eu, , false", "e-u, EU, true"})
    void serversAreStores(String one, String other, boolean starts) {
        application
                .withPropertyValues(
                        "ratelimit.redis.eu.url=redis://localhost",
                        "ratelimit.redis.us.url=redis://localhost",
                        "ratelimit.limits.own.scope=shared",
                        "ratelimit.limits.own.block-for=1m",
                        "ratelimit.limits.shared.block-for=1m",
                        "ratelimit.limits.own.redis=" + one)
                .withPropertyValues(other == null ? "x=y" : "ratelimit.limits.shared.redis=" + other)
                .run(context -> {
                    assertThat(context.getStartupFailure() == null).isEqualTo(starts);
                    if (!starts) {
                        assertThat(LimitedContexts.analysis(context).getDescription())
                                .contains("'own' with redis eu");
                    }
                });
    }

    @ParameterizedTest
    @CsvSource({
        "/api/**, , /api/users, , false",
        "/api/{id}, , /api/users, , false",
        "/**, , /, , false",
        "/api/**, , /api, , false",
        "/*.pdf, , /{file}, , false",
        "/api/users, GET, /api/users, HEAD, false",
        "/api/users, GET, /api/users, POST, true",
        "/api/users, , /api/orders, , true",
        "/api/{id}, , /api/users/{id}, , true",
    })
    void rulesThatMayMatchOneRequestStopTheStartUp(
            String one, String methods, String other, String otherMethods, boolean starts) {
        urls.withPropertyValues(
                        "ratelimit.http[0].path=" + one,
                        "ratelimit.http[0].limit=own",
                        "ratelimit.http[1].path=" + other,
                        "ratelimit.http[1].limit=shared")
                .withPropertyValues(methods == null ? "x=y" : "ratelimit.http[0].methods=" + methods)
                .withPropertyValues(otherMethods == null ? "x=y" : "ratelimit.http[1].methods=" + otherMethods)
                .run(context -> {
                    assertThat(context.getStartupFailure() == null).isEqualTo(starts);
                    if (!starts) {
                        FailureAnalysis analysis = LimitedContexts.analysis(context.getStartupFailure());
                        assertThat(analysis.getDescription())
                                .contains("ratelimit.http[1]")
                                .contains(RULE);
                        assertThat(analysis.getAction()).contains(FIX);
                    }
                });
    }

    @Test
    void overrideIsRefusedWhileTheOtherLimitBlocks() {
        application.withPropertyValues("ratelimit.limits.own.block-for=1m").run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            RateLimitOverride blocks = RateLimitOverride.builder()
                    .blockFor(List.of(Duration.ofMinutes(1)))
                    .build();
            assertThatExceptionOfType(RateLimitConfigurationException.class)
                    .isThrownBy(() -> admin.override("shared", blocks))
                    .withMessageContaining("Quotes.quote")
                    .withMessageContaining(RULE)
                    .withMessageContaining(FIX);
            assertThat(effective(context, "shared").blockFor()).isEmpty();
            admin.override("own", RateLimitOverride.builder().dryRun(true).build());
            admin.override("shared", blocks);
            assertThat(effective(context, "shared").blockFor()).containsExactly(Duration.ofMinutes(1));
        });
    }

    /** As on an instance that starts then. */
    @ParameterizedTest
    @CsvSource({"own, shared", "shared, own"})
    void overrideDoesNotApplyOnceTheOtherLimitBlocksAgain(String blocking, String overridden) {
        application
                .withPropertyValues("ratelimit.limits." + blocking + ".block-for=1m")
                .run(context -> {
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    admin.override(
                            blocking, RateLimitOverride.builder().dryRun(true).build());
                    admin.override(
                            overridden,
                            RateLimitOverride.builder()
                                    .blockFor(List.of(Duration.ofMinutes(1)))
                                    .build());
                    try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                        admin.removeOverride(blocking);
                        assertDoesNotApply(context, overridden, log);
                    }
                    refresh(context, "ratelimit.limits." + blocking + ".block-for=0");
                    assertThat(effective(context, overridden).blockFor()).hasSize(1);
                    try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                        refresh(context, "ratelimit.limits." + blocking + ".block-for=1m");
                        assertDoesNotApply(context, overridden, log);
                    }
                });
    }

    private static void assertDoesNotApply(AssertableApplicationContext context, String limit, LogRecorder log) {
        assertThat(effective(context, limit).blockFor()).isEmpty();
        assertThat(context.getBean(RateLimitAdmin.class)
                        .status(limit)
                        .override()
                        .problem())
                .contains("blockFor must not be set");
        assertThat(log.lines()).filteredOn(line -> line.contains("are invalid")).hasSize(1);
    }

    @Test
    void refreshIsRefusedAsAWhole() {
        application.run(context -> {
            try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                refresh(context, "ratelimit.limits.own.block-for=1m", "ratelimit.limits.shared.block-for=1m");
                assertThat(log.lines())
                        .filteredOn(line -> line.contains(RULE))
                        .singleElement()
                        .asString()
                        .contains("keeping the present ones");
            }
            assertThat(effective(context, "own").blockFor()).isEmpty();
            assertThat(effective(context, "shared").blockFor()).isEmpty();
            refresh(context, "ratelimit.limits.own.block-for=0");
            assertThat(effective(context, "shared").blockFor()).hasSize(1);
            refresh(context, "ratelimit.limits.own.block-for=1m", "ratelimit.limits.shared.block-for=0");
            assertThat(effective(context, "own").blockFor())
                    .as("the other way round")
                    .hasSize(1);
        });
    }

    @Test
    void programmaticCallIsAnIllegalArgument() {
        urls.run(context -> {
            RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
            List<PermitRequest> both = List.of(new PermitRequest("own", "alice"), new PermitRequest("shared", "alice"));
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> registry.tryAcquireAll(both))
                    .withMessageContaining(RULE)
                    .withMessageContaining(FIX);
            assertThat(registry.tryAcquireAllAsync(both).toCompletableFuture()).isCompletedExceptionally();
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> registry.acquireAll(both));
        });
    }

    /** A charge of the limit that is undone could be a violation by the plan. */
    @Test
    void programmaticCallIsRefusedIfAPlanOfALimitBlocks() {
        urls.withPropertyValues(
                        "ratelimit.limits.shared.block-for=0", "ratelimit.limits.shared.plans.gold.block-for=1m")
                .run(context -> assertThatExceptionOfType(IllegalArgumentException.class)
                        .isThrownBy(() -> context.getBean(RateLimiterRegistry.class)
                                .tryAcquireAll(List.of(
                                        new PermitRequest("own", "alice"), new PermitRequest("shared", "alice"))))
                        .withMessageContaining(RULE));
    }

    /** It differs between instances, on which the same overrides apply: only the call itself is refused. */
    @Test
    void programmaticCallChangesNothingOfWhatApplies() {
        urls.withPropertyValues("ratelimit.limits.own.block-for=0", "ratelimit.limits.shared.block-for=0")
                .run(context -> {
                    RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
                    List<PermitRequest> both =
                            List.of(new PermitRequest("own", "alice"), new PermitRequest("shared", "alice"));
                    assertThat(registry.tryAcquireAll(both).allowed()).isTrue();
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    for (String limit : List.of("own", "shared")) {
                        admin.override(
                                limit,
                                RateLimitOverride.builder()
                                        .blockFor(List.of(Duration.ofMinutes(1)))
                                        .build());
                    }
                    for (String limit : List.of("own", "shared")) {
                        assertThat(admin.status(limit).effective().blockFor()).hasSize(1);
                        assertThat(registry.get(limit).tryAcquire("alice").allowed())
                                .isTrue();
                    }
                    assertThatExceptionOfType(IllegalArgumentException.class)
                            .isThrownBy(() -> registry.tryAcquireAll(both))
                            .withMessageContaining(RULE);
                    admin.removeOverride("own");
                    assertThat(registry.tryAcquireAll(both).allowed()).isTrue();
                });
    }

    /** As other plans that are invalid: the limit's own numbers apply. */
    @Test
    void planOfABeanDoesNotBlock() {
        application.withPropertyValues("ratelimit.limits.own.block-for=1m").run(context -> {
            RateLimitPlan plan = RateLimitPlan.named("drawn").capacity(7).blockFor(Duration.ofMinutes(1));
            EffectiveLimit shared =
                    context.getBean(LimitCatalog.class).effective("shared").orElseThrow();
            assertThat(shared.plan(plan)).isSameAs(shared.get());
        });
    }

    /** A call of another plan would charge the limit before the other store has decided. */
    @ParameterizedTest
    @CsvSource({"ratelimit.limits.shared.capacity=5, 0", "ratelimit.limits.shared.plans.strict.block-for=1m, 1"})
    void planOfABeanBlocksOnlyIfAConfiguredPlanDoes(String property, int blocks) {
        application
                .withPropertyValues(property, "ratelimit.limits.shared.plan-expression=none")
                .run(context -> {
                    RateLimitPlan plan = RateLimitPlan.named("drawn").blockFor(Duration.ofMinutes(1));
                    EffectiveLimit shared = context.getBean(LimitCatalog.class)
                            .effective("shared")
                            .orElseThrow();
                    assertThat(shared.plan(plan).blockFor()).hasSize(blocks);
                });
    }

    private static RateLimit effective(AssertableApplicationContext context, String limit) {
        return context.getBean(RateLimitAdmin.class).status(limit).effective();
    }

    private static void refresh(AssertableApplicationContext context, String... properties) {
        TestPropertyValues.of(properties).applyTo(context.getSourceApplicationContext());
        context.publishEvent(new EnvironmentChangeEvent(context));
    }

    static class Quotes {

        @RateLimited(name = "own", rate = "2/s", scope = Scope.INSTANCE)
        @RateLimited(name = "shared", rate = "2/s")
        public void quote() {}
    }
}

package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.spi.RateLimitCustomizer;
import io.ratelimit.testing.TestSettings;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.Ordered;

/** A customizer changes what the code declares, and the configuration of a limit wins over it. */
class CustomizerTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(Calls.class)
            .withBean(
                    "declared",
                    RateLimit.class,
                    () -> RateLimit.named("declared").rate("1/s").build())
            .withPropertyValues("ratelimit.limits.configured.rate=3/s");

    @Test
    void everyLimitIsCustomizedWhereverItIsDeclared() {
        List<String> names = new CopyOnWriteArrayList<>();
        runner.withBean(RateLimitCustomizer.class, () -> (name, limit) -> {
                    names.add(name);
                    limit.algorithm(Algorithm.FIXED_WINDOW).capacity(7);
                })
                .run(context -> {
                    assertThat(limit(context, "annotated")).hasToString("FIXED_WINDOW, capacity 7 at 2/s");
                    assertThat(limit(context, "declared")).hasToString("FIXED_WINDOW, capacity 7 at 1/s");
                    assertThat(limit(context, "configured")).hasToString("FIXED_WINDOW, capacity 7 at 3/s");
                    assertThat(names).contains("annotated", "declared", "configured");
                });
    }

    @Test
    void propertiesOfALimitWinOverItAndItWinsOverDefaults() {
        runner.withBean(
                        RateLimitCustomizer.class,
                        () -> (name, limit) -> limit.rate("9/s").dryRun(true))
                .withPropertyValues("ratelimit.limits.annotated.rate=4/s", "ratelimit.defaults.dry-run=false")
                .run(context -> {
                    assertThat(limit(context, "annotated")).hasToString("TOKEN_BUCKET, capacity 4 at 4/s, dry run");
                    assertThat(limit(context, "declared")).hasToString("TOKEN_BUCKET, capacity 9 at 9/s, dry run");
                });
    }

    @Test
    void theLaterOfTwoWins() {
        runner.withBean("late", RateLimitCustomizer.class, () -> new Rated(2, "22/s"))
                .withBean("early", RateLimitCustomizer.class, () -> new Rated(1, "11/s"))
                .run(context ->
                        assertThat(limit(context, "annotated")).hasToString("TOKEN_BUCKET, capacity 22 at 22/s"));
    }

    /** As with {@code @RefreshScope}, whose proxy and target are both beans. */
    @Test
    void oneWithAScopeIsAppliedOnce() {
        runner.withUserConfiguration(Scoped.class).run(context -> {
            assertThat(context.getBeanNamesForType(RateLimitCustomizer.class)).hasSize(2);
            assertThat(limit(context, "declared").capacity()).isEqualTo(7);
            assertThat(context.getBean(Scoped.class).names).containsOnlyOnce("annotated");
        });
    }

    @Test
    void declarationItselfStaysAsItIs() {
        runner.withBean(RateLimitCustomizer.class, () -> new Rated(1, "11/s"))
                .run(context -> assertThat(TestSettings.of(false, OnStoreFailure.LOCAL, Map.of())
                                .apply(limit(context, "declared")))
                        .hasToString("TOKEN_BUCKET, capacity 1 at 1/s"));
    }

    @Test
    void mistakeOfACustomizerStopsTheStartUpWithTheLimit() {
        runner.withBean(RateLimitCustomizer.class, () -> (name, limit) -> limit.rate("often"))
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + Calls.class.getName() + ".call()")
                        .contains("What: rate must be permits per period (was \"often\")."));
    }

    private static RateLimit limit(ApplicationContext context, String name) {
        return context.getBean(LimitCatalog.class).find(name).orElseThrow();
    }

    @Configuration(proxyBeanMethods = false)
    static class Scoped {

        final List<String> names = new CopyOnWriteArrayList<>();

        @Bean
        @Scope(value = BeanDefinition.SCOPE_PROTOTYPE, proxyMode = ScopedProxyMode.INTERFACES)
        RateLimitCustomizer customizer() {
            return (name, limit) -> {
                names.add(name);
                limit.capacity(7);
            };
        }
    }

    private record Rated(int getOrder, String rate) implements RateLimitCustomizer, Ordered {

        @Override
        public void customize(String name, RateLimitBuilder limit) {
            limit.rate(rate);
        }
    }

    static class Calls {

        @RateLimited(name = "annotated", rate = "2/s")
        public void call() {}
    }
}

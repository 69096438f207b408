package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.actuate.RateLimitHealthAutoConfiguration;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreHealth;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.health.registry.HealthContributorRegistry;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** On Spring Boot 4. */
class RateLimitHealthAutoConfigurationTests {

    private static final Health SHARED =
            Health.up().withDetail("limits", "shared").build();

    private static final String CALLER = "alice";

    private final FailingScriptExecutor redis = new FailingScriptExecutor();

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RateLimitAutoConfiguration.class,
                    RateLimitHealthAutoConfiguration.class,
                    HealthContributorRegistryAutoConfiguration.class))
            .withPropertyValues("ratelimit.limits.quotes.rate=1/h");

    private final ApplicationContextRunner runner = bare.withBean(RateLimitScriptExecutor.class, () -> redis);

    @Test
    void limitsAreSharedWhileTheStoreDecides() {
        runner.withPropertyValues("ratelimit.health.store-failure=down")
                .run(context -> assertThat(health(context)).isEqualTo(SHARED));
    }

    @Test
    void saysWhatIsWrongWhileTheStoreFails() {
        runner.run(context -> {
            redis.fail();
            call(context);
            call(context);
            Health health = health(context);
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails()).containsEntry("limits", "on-store-failure");
            assertThat(trouble(health))
                    .containsEntry("reason", "timeout")
                    .containsEntry("error", "Redis: no answer in time")
                    .containsEntry("calls", 2L)
                    .hasEntrySatisfying(
                            "since",
                            since -> assertThat(Instant.parse((String) since)).isBeforeOrEqualTo(Instant.now()));
            assertThat(health.toString()).doesNotContain(CALLER);
        });
    }

    @Test
    void seesWhatNobodyHasCalledFor() {
        runner.run(context -> {
            redis.fail();
            assertThat(trouble(health(context))).containsEntry("calls", 0L);
        });
    }

    @Test
    void limitsAreSharedAgainWhenItIsOver() {
        runner.run(context -> {
            redis.fail();
            assertThat(health(context)).isNotEqualTo(SHARED);
            redis.recover();
            await("the end of the trouble").until(() -> health(context).equals(SHARED));
        });
    }

    @Test
    void isDownIfAsked() {
        runner.withPropertyValues("ratelimit.health.store-failure=down").run(context -> {
            redis.fail();
            Health health = health(context);
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(trouble(health)).containsEntry("reason", "timeout");
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "management.health.ratelimit.enabled=false",
                "management.health.defaults.enabled=false",
                "ratelimit.enabled=false",
                "ratelimit.store=in-memory"
            })
    void isNotThereWhereThereIsNothingToSay(String property) {
        runner.withPropertyValues(property).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context).doesNotHaveBean(HealthIndicator.class);
        });
    }

    @Test
    void isSwitchedOnAloneOfAll() {
        runner.withPropertyValues(
                        "management.health.defaults.enabled=false", "management.health.ratelimit.enabled=true")
                .run(context -> assertThat(health(context)).isEqualTo(SHARED));
    }

    @Test
    void isNotThereForAStoreThatDoesNotKnow() {
        bare.withBean(RateLimitStore.class, () -> mock()).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context).doesNotHaveBean(HealthIndicator.class);
        });
    }

    @Test
    void asksAStoreThatKnows() {
        StoreFailure trouble = new StoreFailure(Reason.ERROR, "no disk", Instant.EPOCH, 1);
        RateLimitStore store = mock(withSettings().extraInterfaces(StoreHealth.class));
        when(((StoreHealth) store).failures()).thenReturn(List.of(trouble));
        bare.withBean("store", store.getClass().asSubclass(RateLimitStore.class), () -> store)
                .run(context -> assertThat(trouble(health(context))).containsEntry("error", "no disk"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ratelimitHealthContributor", "ratelimitHealthIndicator"})
    void ownContributorReplacesIt(String name) {
        Health own = Health.unknown().build();
        runner.withBean(name, HealthIndicator.class, () -> () -> own).run(context -> {
            assertThat(context).hasSingleBean(HealthIndicator.class);
            assertThat(health(context)).isEqualTo(own);
        });
    }

    private static void call(ApplicationContext context) {
        context.getBean(RateLimiterRegistry.class).get("quotes").tryAcquire(CALLER);
    }

    /** As the endpoint finds it. */
    private static Health health(ApplicationContext context) {
        HealthContributorRegistry registry = context.getBean(HealthContributorRegistry.class);
        assertThat(registry.getContributor("ratelimit")).isInstanceOf(HealthIndicator.class);
        return ((HealthIndicator) registry.getContributor("ratelimit")).health();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> trouble(Health health) {
        List<Map<String, Object>> failures =
                (List<Map<String, Object>>) health.getDetails().get("failures");
        assertThat(failures).hasSize(1);
        return failures.get(0);
    }
}

package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.RateLimitBeanPostProcessor;
import io.ratelimit.autoconfigure.web.RateLimitServletAutoConfiguration;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.internal.limiter.CatalogRateLimiterRegistry;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.UnlimitedRateLimiterRegistry;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.metrics.CallMetrics;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.web.servlet.RateLimitExceptionResolver;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RateLimitAutoConfigurationTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class));

    private final ApplicationContextRunner inMemory = runner.withPropertyValues("ratelimit.store=in-memory");

    @Test
    void redisIsTheDefaultAndNeedNotBeThere() {
        runner.withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
                .run(context -> {
                    assertThat(context).hasSingleBean(RedisConnector.class);
                    assertThat(context.getBean(RateLimitStore.class)).isInstanceOf(RoutingRateLimitStore.class);
                });
    }

    @Test
    void ownScriptExecutorReplacesTheDefault() {
        runner.withBean(RateLimitScriptExecutor.class, () -> mock())
                .withBean(RedisConnectionFactory.class, () -> mock())
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context).hasSingleBean(RateLimitScriptExecutor.class);
                    assertThat(context).doesNotHaveBean(RedisConnector.class);
                });
    }

    @Test
    void ownScriptExecutorNeedsNoConnectionFactory() {
        runner.withBean(RateLimitScriptExecutor.class, () -> mock())
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void ownScriptExecutorLeavesOverridesToEachInstanceAndTheLogTellsSo() {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            runner.withBean(RateLimitScriptExecutor.class, () -> mock())
                    .run(context -> assertThat(context).hasSingleBean(OverrideSynchronizer.class));
            assertThat(log.lines())
                    .containsOnlyOnce("Overrides of rate limits apply to this instance alone, because a"
                            + " RateLimitScriptExecutor bean replaces the starter's connection to Redis");
        }
    }

    @Test
    void inMemoryLeavesRedisAlone() {
        inMemory.withBean(RedisConnectionFactory.class, () -> mock()).run(context -> {
            assertThat(context).doesNotHaveBean(RateLimitScriptExecutor.class);
            assertThat(context.getBean(RateLimitStore.class)).isInstanceOf(InMemoryRateLimitStore.class);
        });
    }

    @Test
    void ownStoreReplacesTheDefaultAndNeedsNoRedis() {
        RateLimitStore own = mock();
        runner.withBean(RateLimitStore.class, () -> own).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(RateLimitStore.class)).isSameAs(own);
        });
    }

    @Test
    void ownTimeSourceReplacesTheDefault() {
        inMemory.withBean(StoppedClock.class)
                .run(context -> assertThat(context.getBean(TimeSource.class)).isInstanceOf(StoppedClock.class));
    }

    @Test
    void ownWaiterReplacesTheDefault() {
        RecordingWaiter own = new RecordingWaiter();
        inMemory.run(context -> assertThat(context).hasSingleBean(Waiter.class));
        inMemory.withBean(RecordingWaiter.class, () -> own)
                .run(context -> assertThat(context.getBean(Waiter.class)).isSameAs(own));
    }

    @Test
    void ownRegistryReplacesTheDefault() {
        RateLimiterRegistry own = mock();
        inMemory.withBean(RateLimiterRegistry.class, () -> own)
                .withBean(Quotes.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context).doesNotHaveBean(CatalogRateLimiterRegistry.class);
                    assertThat(context.getBean(RateLimiterRegistry.class)).isSameAs(own);
                });
    }

    @Test
    void beansThatDeclareLimitsAreKnownToTheConfigurationUnderAnOwnRegistry() {
        inMemory.withBean(RateLimiterRegistry.class, () -> mock())
                .withBean(
                        "exports",
                        RateLimit.class,
                        () -> RateLimit.named("exports").rate("1/m").build())
                .withPropertyValues("ratelimit.limits.exports.capacity=4")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(LimitCatalog.class)
                                    .find("exports")
                                    .orElseThrow()
                                    .capacity())
                            .isEqualTo(4);
                });
    }

    @Test
    void aChildContextHasLimitsOfItsOwn() {
        inMemory.withBean(
                        "parents",
                        RateLimit.class,
                        () -> RateLimit.named("parents").rate("1/m").build())
                .run(parent -> inMemory.withParent(parent)
                        .withBean(
                                "exports",
                                RateLimit.class,
                                () -> RateLimit.named("exports").rate("1/m").build())
                        .withPropertyValues("ratelimit.limits.exports.capacity=4")
                        .run(child -> {
                            assertThat(child).hasNotFailed();
                            RateLimiterRegistry registry = child.getBean(RateLimiterRegistry.class);
                            assertThat(registry.get("exports")
                                            .tryAcquire("acme")
                                            .remaining())
                                    .isEqualTo(3);
                        }));
    }

    @Test
    void disabledNeedsNoRedisAndLimitsNothing() {
        runner.withPropertyValues("ratelimit.enabled=false")
                .withBean(Quotes.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context).doesNotHaveBean(RateLimitStore.class);
                    assertThat(context).doesNotHaveBean(RateLimitBeanPostProcessor.class);
                    assertThat(AopUtils.isAopProxy(context.getBean(Quotes.class)))
                            .isFalse();
                });
    }

    @Test
    void disabledRegistryAllowsEverythingUnderEveryName() {
        runner.withPropertyValues("ratelimit.enabled=false").run(context -> {
            assertThat(context.getBean(RateLimiterRegistry.class)).isInstanceOf(UnlimitedRateLimiterRegistry.class);
            for (int i = 0; i < 100; i++) {
                assertThat(context.getBean(RateLimiterRegistry.class)
                                .get("any")
                                .tryAcquire("alice", 1_000_000)
                                .allowed())
                        .isTrue();
            }
        });
    }

    @Test
    void disabledLimitsCannotBeChanged() {
        runner.withPropertyValues("ratelimit.enabled=false").run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class).as("alice");
            RateLimitOverride override = RateLimitOverride.builder().capacity(1).build();
            assertThatIllegalStateException()
                    .isThrownBy(() -> admin.override("any", override))
                    .withMessage("Rate limits are off (ratelimit.enabled is false)");
            assertThatIllegalStateException().isThrownBy(() -> admin.bucket("any", "bob"));
            assertThat(admin.overrideAsync("any", override, RateLimitAdmin.ANY_VERSION))
                    .isCompletedExceptionally();
        });
    }

    @Test
    void disabledServletApplicationHasNoExceptionResolver() {
        LimitedContexts.inMemoryServlet()
                .withPropertyValues("ratelimit.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(RateLimitExceptionResolver.class));
    }

    @Test
    void withoutAMeterRegistryNothingIsCounted() {
        inMemory.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context).doesNotHaveBean(CallMetrics.class);
        });
    }

    @Test
    void outsideOfAServletApplicationThereIsNoExceptionResolver() {
        inMemory.withConfiguration(AutoConfigurations.of(RateLimitServletAutoConfiguration.class))
                .run(context -> assertThat(context).doesNotHaveBean(RateLimitExceptionResolver.class));
    }

    @Test
    void lazyApplicationIsCheckedAtStartUpToo() {
        inMemory.withBean(Quotes.class)
                .withPropertyValues("ratelimit.limits.quoets.capacity=1")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> assertThat(LimitedContexts.analysis(context).getAction())
                        .startsWith("Did you mean ratelimit.limits.quotes?"));
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s")
        public void quote() {}
    }
}

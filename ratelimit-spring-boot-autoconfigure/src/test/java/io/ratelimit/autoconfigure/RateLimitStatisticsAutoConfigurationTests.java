package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.actuate.InstanceDescriptor;
import io.ratelimit.actuate.LimitDescriptor;
import io.ratelimit.actuate.RateLimitsDescriptor;
import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.autoconfigure.actuate.RateLimitStatisticsAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.internal.statistics.CallCounts;
import io.ratelimit.internal.statistics.KeyCount;
import io.ratelimit.internal.statistics.RateLimitStatistics;
import io.ratelimit.redis.RateLimitScriptExecutor;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

class RateLimitStatisticsAutoConfigurationTests {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=ratelimits";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withConfiguration(AutoConfigurations.of(
                    RateLimitsEndpointAutoConfiguration.class, RateLimitStatisticsAutoConfiguration.class))
            .withPropertyValues("ratelimit.limits.quotes.rate=10/h");

    @Test
    void runWithEndpointShouldCount() {
        runner.withPropertyValues(EXPOSED).run(context -> {
            call(context, "alice", 11);
            assertThat(limits(context).figures()).isEqualTo("instance");
            assertThat(limits(context).instances())
                    .extracting(InstanceDescriptor::state)
                    .containsExactly("instance");
            assertThat(lastMinute(context)).isEqualTo(new CallCounts(10, 1, 0, 0));
        });
    }

    @Test
    void runWithoutEndpointShouldNotCount() {
        runner.run(context -> assertThat(context).doesNotHaveBean(RateLimitStatistics.class));
    }

    @Test
    void runWhenNotEnabledShouldNotCount() {
        runner.withPropertyValues(EXPOSED, "ratelimit.statistics.enabled=false").run(context -> {
            assertThat(context).doesNotHaveBean(RateLimitStatistics.class);
            assertThat(limits(context))
                    .extracting(RateLimitsDescriptor::figures, RateLimitsDescriptor::instances)
                    .containsOnlyNulls();
            assertThat(limit(context)).extracting(LimitDescriptor::lastMinute).isNull();
            assertThat(context.getBean(RateLimitsEndpoint.class).limit("quotes", null, null, "15m"))
                    .isNotNull();
        });
    }

    @Test
    void runWhenLimitsAreDisabledShouldNotCount() {
        runner.withPropertyValues(EXPOSED, "ratelimit.enabled=false", "ratelimit.statistics.enabled=true")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RateLimitStatistics.class));
    }

    @Test
    void runWithTopKeysButNoFiguresShouldFail() {
        runner.withPropertyValues(EXPOSED, "ratelimit.statistics.enabled=false", "ratelimit.top-keys.enabled=true")
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains("ratelimit.top-keys.enabled must be false without figures (was true)"));
    }

    @Test
    void dryRunIsCountedApart() {
        runner.withPropertyValues(EXPOSED, "ratelimit.dry-run=true").run(context -> {
            call(context, "alice", 12);
            assertThat(lastMinute(context)).isEqualTo(new CallCounts(10, 0, 2, 0));
        });
    }

    @Test
    void refusedCallsAreCounted() {
        FailingScriptExecutor redis = new FailingScriptExecutor();
        runner.withPropertyValues(EXPOSED, "ratelimit.store=redis", "ratelimit.on-store-failure=reject")
                .withBean(RateLimitScriptExecutor.class, () -> redis)
                .run(context -> {
                    redis.fail();
                    try {
                        call(context, "alice", 1);
                    } catch (RuntimeException expected) {
                        // Refused.
                    }
                    assertThat(lastMinute(context)).isEqualTo(new CallCounts(0, 0, 0, 1));
                    assertThat(limits(context).instances())
                            .extracting(InstanceDescriptor::state, InstanceDescriptor::reason)
                            .containsExactly(tuple("on-store-failure", "timeout"));
                });
    }

    @Test
    void childCountsWithItsParent() {
        runner.withPropertyValues(EXPOSED)
                .run(parent -> runner.withPropertyValues(EXPOSED)
                        .withParent(parent)
                        .run(child -> {
                            assertThat(child).hasNotFailed();
                            call(child, "alice", 3);
                            call(parent, "alice", 1);
                            assertThat(child.getBeansOfType(RateLimitStatistics.class))
                                    .isEmpty();
                            assertThat(lastMinute(child)).isEqualTo(new CallCounts(4, 0, 0, 0));
                            assertThat(lastMinute(parent)).isEqualTo(new CallCounts(4, 0, 0, 0));
                        }));
    }

    @Test
    void mostRejectedKeysAreThoseOfOneLimit() {
        runner.withPropertyValues(EXPOSED, "ratelimit.top-keys.enabled=true").run(context -> {
            call(context, "alice", 12);
            call(context, "bob", 15);
            call(context, "carol", 1);
            limiter(context).allCallers().tryAcquire(20);
            assertThat(topKeys(context)).containsExactly(new KeyCount("bob", 5, 0), new KeyCount("alice", 2, 0));
            assertThat(limit(context).topKeys()).isNull();
        });
    }

    @Test
    void keysAreNotListedByDefault() {
        runner.withPropertyValues(EXPOSED).run(context -> {
            call(context, "alice", 12);
            assertThat(topKeys(context)).isNull();
        });
    }

    @Test
    void keysAreHashedAsInRedis() {
        runner.withPropertyValues(EXPOSED, "ratelimit.top-keys.enabled=true", "ratelimit.redis.hash-keys=true")
                .run(context -> {
                    call(context, "alice", 11);
                    assertThat(topKeys(context))
                            .singleElement()
                            .satisfies(count -> assertThat(count.key()).startsWith("%sha256-"));
                });
    }

    private static RateLimiter limiter(ApplicationContext context) {
        return context.getBean(RateLimiterRegistry.class).get("quotes");
    }

    private static void call(ApplicationContext context, String key, int calls) {
        for (int i = 0; i < calls; i++) {
            limiter(context).tryAcquire(key);
        }
    }

    private static RateLimitsDescriptor limits(ApplicationContext context) {
        return context.getBean(RateLimitsEndpoint.class).limits(null);
    }

    private static LimitDescriptor limit(ApplicationContext context) {
        return limits(context).limits().get("quotes");
    }

    private static List<KeyCount> topKeys(ApplicationContext context) {
        Object limit = context.getBean(RateLimitsEndpoint.class).limit("quotes", null, null, null);
        return ((LimitDescriptor) limit).topKeys();
    }

    private static CallCounts lastMinute(ApplicationContext context) {
        return limit(context).lastMinute();
    }
}

package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.actuate.LimitDescriptor;
import io.ratelimit.actuate.LimitDescriptor.Load;
import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.actuate.StoreDescriptor;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.StubStore;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class RateLimitsEndpointAutoConfigurationTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withConfiguration(AutoConfigurations.of(RateLimitsEndpointAutoConfiguration.class))
            .withBean(Quotes.class);

    @Test
    void runShouldHaveEndpointBean() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=ratelimits")
                .run(context -> assertThat(context).hasSingleBean(RateLimitsEndpoint.class));
    }

    @Test
    void runWhenNotExposedShouldNotHaveEndpointBean() {
        runner.run(context -> assertThat(context).doesNotHaveBean(RateLimitsEndpoint.class));
    }

    @Test
    void runWhenAccessIsNoneShouldNotHaveEndpointBean() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=*", "management.endpoint.ratelimits.access=NONE")
                .run(context -> assertThat(context).doesNotHaveBean(RateLimitsEndpoint.class));
    }

    @Test
    void runWhenDisabledShouldNotHaveEndpointBean() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=*", "ratelimit.enabled=false")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context).doesNotHaveBean(RateLimitsEndpoint.class);
                });
    }

    @Test
    void storeOfTheApplicationIsCustom() {
        StubStore own = new StubStore();
        runner.withBean("ownStore", RateLimitStore.class, () -> own)
                .withPropertyValues("management.endpoints.web.exposure.include=ratelimits")
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits(null)
                                .store())
                        .extracting(StoreDescriptor::kind, StoreDescriptor::state)
                        .containsExactly("custom", "shared"));
    }

    @Test
    void storeThatFailsSaysWhy() {
        FailingScriptExecutor redis = new FailingScriptExecutor();
        runner.withPropertyValues("management.endpoints.web.exposure.include=ratelimits", "ratelimit.store=redis")
                .withBean(RateLimitScriptExecutor.class, () -> redis)
                .run(context -> {
                    RateLimitsEndpoint endpoint = context.getBean(RateLimitsEndpoint.class);
                    assertThat(endpoint.limits(null).store())
                            .extracting(StoreDescriptor::kind, StoreDescriptor::state, StoreDescriptor::reason)
                            .containsExactly("redis", "shared", null);
                    redis.fail();
                    assertThat(endpoint.limits(null).store())
                            .extracting(StoreDescriptor::kind, StoreDescriptor::state, StoreDescriptor::reason)
                            .containsExactly("redis", "on-store-failure", "timeout");
                });
    }

    @Test
    void showsDefaultsWhereTheyApply() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.defaults.algorithm=leaky-bucket",
                        "ratelimit.defaults.rate=9/s",
                        "ratelimit.defaults.max-wait=2s",
                        "ratelimit.defaults.scope=instance",
                        "ratelimit.defaults.dry-run=true",
                        "ratelimit.defaults.on-store-failure=allow",
                        "ratelimit.limits.exports.rate=1/m",
                        "ratelimit.limits.exports.max-wait=0s",
                        "ratelimit.limits.exports.scope=shared",
                        "ratelimit.limits.exports.dry-run=false",
                        "ratelimit.limits.exports.on-store-failure=reject")
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits(null)
                                .limits()
                                .values())
                        .extracting(
                                LimitDescriptor::algorithm,
                                LimitDescriptor::rate,
                                LimitDescriptor::maxWait,
                                LimitDescriptor::scope,
                                LimitDescriptor::dryRun,
                                LimitDescriptor::onStoreFailure)
                        .containsExactly(
                                tuple("LEAKY_BUCKET", "1/m", Duration.ZERO, "SHARED", false, "REJECT"),
                                tuple("LEAKY_BUCKET", "10/s", Duration.ofSeconds(2), "INSTANCE", true, "ALLOW")));
    }

    @Test
    void concurrencyLimitHasAHoldAndNoRate() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.limits.exports.algorithm=concurrency",
                        "ratelimit.limits.exports.capacity=5",
                        "ratelimit.limits.exports.hold=1m")
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits(null)
                                .limits()
                                .values())
                        .extracting(LimitDescriptor::hold, LimitDescriptor::rate, LimitDescriptor::refill)
                        .containsExactly(tuple(Duration.ofMinutes(1), null, null), tuple(null, "10/s", "CONTINUOUS")));
    }

    @Test
    void tellsWhatTheCallsOfThisInstanceHoldAndWaitFor() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.limits.exports.algorithm=concurrency",
                        "ratelimit.limits.exports.capacity=2",
                        "ratelimit.limits.exports.max-wait=1m",
                        "ratelimit.limits.mails.rate=1/h",
                        "ratelimit.limits.mails.max-wait=1d")
                .run(context -> {
                    RateLimitsEndpoint endpoint = context.getBean(RateLimitsEndpoint.class);
                    RateLimiterRegistry limiters = context.getBean(RateLimiterRegistry.class);
                    assertThat(loads(endpoint)).containsExactly(new Load(0L, 0), new Load(null, 0), null);

                    RateLimiter.Entry both = limiters.get("exports").enter("alice", 2);
                    CompletableFuture<?> waiting =
                            limiters.get("exports").enterAsync("alice").toCompletableFuture();
                    limiters.get("mails").tryAcquire("alice");
                    CompletableFuture<?> reserved =
                            limiters.get("mails").acquireAsync("alice").toCompletableFuture();
                    assertThat(loads(endpoint)).containsExactly(new Load(2L, 1), new Load(null, 1), null);
                    assertThat(endpoint.limit("exports", null, null, null))
                            .asInstanceOf(type(LimitDescriptor.class))
                            .extracting(LimitDescriptor::thisInstance)
                            .isEqualTo(new Load(2L, 1));

                    waiting.cancel(false);
                    reserved.cancel(false);
                    both.close();
                    assertThat(loads(endpoint)).containsExactly(new Load(0L, 0), new Load(null, 0), null);
                });
    }

    /** Of exports, mails and quotes. */
    private static List<Load> loads(RateLimitsEndpoint endpoint) {
        return endpoint.limits(null).limits().values().stream()
                .map(LimitDescriptor::thisInstance)
                .toList();
    }

    @Test
    void showsPointcutAndMethodsOfALimitOfTheConfigurationAlone() {
        String pointcut = "execution(* " + Quotes.class.getName() + ".unlimited(..))";
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.limits.exports.rate=1/m",
                        "ratelimit.limits.exports.pointcut=" + pointcut)
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits(null)
                                .limits()
                                .get("exports"))
                        .extracting(
                                LimitDescriptor::pointcut,
                                limit -> limit.methods().keySet())
                        .containsExactly(pointcut, Set.of(Quotes.class.getName() + ".unlimited()")));
    }

    @Test
    void showsTheMethodsOfADisabledLimitToo() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits", "ratelimit.limits.quotes.enabled=false")
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits(null)
                                .limits()
                                .get("quotes"))
                        .extracting(
                                LimitDescriptor::enabled,
                                limit -> limit.methods().keySet())
                        .containsExactly(false, Set.of(Quotes.class.getName() + ".quote(String)")));
    }

    static class Quotes {

        @RateLimited(name = "quotes", capacity = 20, rate = "10/s")
        public void quote(String id) {}

        public void unlimited() {}
    }
}

package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.internal.limiter.UnknownLimitException;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The endpoint shows plans and changes them. */
class PlanEndpointTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withConfiguration(AutoConfigurations.of(RateLimitsEndpointAutoConfiguration.class))
            .withPropertyValues(
                    "management.endpoints.web.exposure.include=ratelimits",
                    "spring.jmx.enabled=true",
                    "management.endpoints.jmx.exposure.include=ratelimits",
                    "ratelimit.limits.quotes.rate=10/h",
                    "ratelimit.limits.quotes.plans.free.capacity=2",
                    "ratelimit.limits.plain.rate=10/h");

    private static LimitDescriptor changed(RateLimitsEndpoint endpoint, String plan, Long capacity) {
        return (LimitDescriptor) endpoint.change(
                "quotes", null, plan, capacity, null, null, null, null, null, null, null, null, null, null, "alice");
    }

    @Test
    void planIsShownOverriddenAndShownAsItWas() {
        runner.run(context -> {
            RateLimitsEndpoint endpoint = context.getBean(RateLimitsEndpoint.class);
            assertThat(endpoint.limits(null).limits().get("plain").plans()).isNull();
            LimitDescriptor.PlanDescriptor shown =
                    endpoint.limits(null).limits().get("quotes").plans().get("free");
            assertThat(shown.capacity()).isEqualTo(2);
            assertThat(shown.rate()).isEqualTo("10/h");
            assertThat(shown.override()).isNull();
            assertThat(shown.origins().get("capacity").place()).contains("ratelimit.limits.quotes.plans.free.capacity");
            LimitDescriptor changed = changed(endpoint, "free", 20L);
            assertThat(changed.capacity()).isEqualTo(10);
            assertThat(changed.override()).isNull();
            assertThat(changed.plans().get("free").capacity()).isEqualTo(20);
            assertThat(changed.plans().get("free").override()).containsEntry("principal", "alice");
            LimitDescriptor removed = (LimitDescriptor) endpoint.remove("quotes", null, "free", null, null);
            assertThat(removed.plans().get("free").capacity()).isEqualTo(2);
        });
    }

    @Test
    void planOfAConcurrencyLimitIsShownWithoutARate() {
        runner.withPropertyValues(
                        "ratelimit.limits.exports.algorithm=concurrency",
                        "ratelimit.limits.exports.capacity=2",
                        "ratelimit.limits.exports.plans.pro.capacity=5")
                .run(context -> {
                    RateLimitsEndpoint endpoint = context.getBean(RateLimitsEndpoint.class);
                    LimitDescriptor.PlanDescriptor shown = endpoint.limits(null)
                            .limits()
                            .get("exports")
                            .plans()
                            .get("pro");
                    assertThat(shown.capacity()).isEqualTo(5);
                    assertThat(shown.rate()).isNull();
                });
    }

    @Test
    void bucketIsShownByTheNumbersOfThePlan() {
        runner.run(context -> {
            RateLimitsEndpoint endpoint = context.getBean(RateLimitsEndpoint.class);
            context.getBean(RateLimiterRegistry.class).get("quotes").tryAcquire("alice");
            assertThat(((BucketDescriptor) endpoint.limit("quotes", "alice", "free", null)).remaining())
                    .isEqualTo(1);
            assertThat(((BucketDescriptor) endpoint.limit("quotes", "alice", null, null)).remaining())
                    .isEqualTo(9);
        });
    }

    @Test
    void unknownPlanIsNotFoundAndAPlanAloneSelectsNothing() {
        runner.run(context -> {
            RateLimitsEndpoint endpoint = context.getBean(RateLimitsEndpoint.class);
            assertThatExceptionOfType(UnknownLimitException.class)
                    .isThrownBy(() -> changed(endpoint, "fre", 20L))
                    .withMessage("Limit 'quotes' has no plan 'fre'; did you mean 'free'?");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> endpoint.limit("quotes", null, "free", null))
                    .withMessage("plan must be sent with a key.");
        });
    }
}

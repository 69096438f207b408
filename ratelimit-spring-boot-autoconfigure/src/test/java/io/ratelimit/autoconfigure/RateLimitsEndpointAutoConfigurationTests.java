package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.actuate.RateLimitsEndpoint.LimitDescriptor;
import io.ratelimit.annotation.RateLimited;
import java.util.List;
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
    void showsWhatIsInForceAndWhere() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.on-store-failure=allow",
                        "ratelimit.limits.quotes.rate=5/s",
                        "ratelimit.limits.quotes.dry-run=true",
                        "ratelimit.limits.quotes.max-wait=500ms",
                        "ratelimit.limits.exports.rate=1/m",
                        "ratelimit.limits.exports.algorithm=fixed-window",
                        "ratelimit.limits.exports.enabled=false")
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits()
                                .limits())
                        .containsEntry(
                                "quotes",
                                new LimitDescriptor(
                                        "TOKEN_BUCKET",
                                        20,
                                        "5/s",
                                        "CONTINUOUS",
                                        "PT0.5S",
                                        0,
                                        true,
                                        true,
                                        "ALLOW",
                                        null,
                                        List.of(Quotes.class.getName() + ".quote(String)"),
                                        List.of()))
                        .containsEntry(
                                "exports",
                                new LimitDescriptor(
                                        "FIXED_WINDOW",
                                        1,
                                        "1/m",
                                        "CONTINUOUS",
                                        "PT0S",
                                        0,
                                        false,
                                        false,
                                        "ALLOW",
                                        null,
                                        List.of(),
                                        List.of()))
                        .hasSize(2));
    }

    @Test
    void showsDefaultsWhereTheyApply() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.defaults.algorithm=leaky-bucket",
                        "ratelimit.defaults.rate=9/s",
                        "ratelimit.defaults.max-wait=2s",
                        "ratelimit.defaults.dry-run=true",
                        "ratelimit.defaults.on-store-failure=allow",
                        "ratelimit.limits.exports.rate=1/m",
                        "ratelimit.limits.exports.max-wait=0s",
                        "ratelimit.limits.exports.dry-run=false",
                        "ratelimit.limits.exports.on-store-failure=reject")
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits()
                                .limits()
                                .values())
                        .extracting(
                                LimitDescriptor::algorithm,
                                LimitDescriptor::rate,
                                LimitDescriptor::maxWait,
                                LimitDescriptor::dryRun,
                                LimitDescriptor::onStoreFailure)
                        .containsExactly(
                                tuple("LEAKY_BUCKET", "1/m", "PT0S", false, "REJECT"),
                                tuple("LEAKY_BUCKET", "10/s", "PT2S", true, "ALLOW")));
    }

    @Test
    void showsPointcutAndMethodsOfALimitOfTheConfigurationAlone() {
        String pointcut = "execution(* " + Quotes.class.getName() + ".unlimited(..))";
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.limits.exports.rate=1/m",
                        "ratelimit.limits.exports.pointcut=" + pointcut)
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits()
                                .limits()
                                .get("exports"))
                        .extracting(LimitDescriptor::pointcut, LimitDescriptor::methods)
                        .containsExactly(pointcut, List.of(Quotes.class.getName() + ".unlimited()")));
    }

    @Test
    void showsTheMethodsOfADisabledLimitToo() {
        runner.withPropertyValues(
                        "management.endpoints.web.exposure.include=ratelimits", "ratelimit.limits.quotes.enabled=false")
                .run(context -> assertThat(context.getBean(RateLimitsEndpoint.class)
                                .limits()
                                .limits()
                                .get("quotes"))
                        .extracting(LimitDescriptor::enabled, LimitDescriptor::methods)
                        .containsExactly(false, List.of(Quotes.class.getName() + ".quote(String)")));
    }

    static class Quotes {

        @RateLimited(name = "quotes", capacity = 20, rate = "10/s")
        public void quote(String id) {}

        public void unlimited() {}
    }
}

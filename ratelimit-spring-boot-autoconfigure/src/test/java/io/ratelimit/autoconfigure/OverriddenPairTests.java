package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.Scope;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An override that limits of a call in code exclude is refused, as for the limits of a method. */
class OverriddenPairTests {

    private static final List<PermitRequest> PAIR =
            List.of(new PermitRequest("rendering", "alice"), new PermitRequest("quotes", "alice"));

    @Test
    void overrideThatTheLimitsOfACallExcludeIsRefused() {
        LimitedContexts.inMemory()
                .withBean(
                        "rendering",
                        RateLimit.class,
                        () -> RateLimit.named("rendering")
                                .rate("10/s")
                                .scope(Scope.INSTANCE)
                                .blockFor(Duration.ofMinutes(1))
                                .build())
                .withBean(
                        "quotes",
                        RateLimit.class,
                        () -> RateLimit.named("quotes").rate("10/s").build())
                .run(context -> {
                    RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
                    registry.acquireAll(PAIR);
                    RateLimitOverride blocking = RateLimitOverride.builder()
                            .blockFor(List.of(Duration.ofMinutes(1)))
                            .build();
                    assertThatExceptionOfType(RateLimitConfigurationException.class)
                            .isThrownBy(
                                    () -> context.getBean(RateLimitAdmin.class).override("quotes", blocking))
                            .withMessageContaining("blockFor must not be set for limits of one call");
                    registry.acquireAll(PAIR);
                    assertThat(registry.tryAcquireAll(PAIR).allowed()).isTrue();
                });
    }
}

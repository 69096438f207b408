package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.PermitRequest;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.Scope;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An override never makes calls impossible that the code makes: it is refused, or they are decided. */
class OverriddenPairTests {

    private static final List<PermitRequest> PAIR =
            List.of(new PermitRequest("rendering", "alice"), new PermitRequest("quotes", "alice"));

    @Test
    void overrideThatTheLimitsOfACallExcludeIsRefusedOrTheCallIsDecided() {
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
                    try {
                        context.getBean(RateLimitAdmin.class)
                                .override(
                                        "quotes",
                                        RateLimitOverride.builder()
                                                .blockFor(List.of(Duration.ofMinutes(1)))
                                                .build());
                    } catch (RateLimitConfigurationException refused) {
                        // As of limits of a method.
                    }
                    registry.acquireAll(PAIR);
                    assertThat(registry.tryAcquireAll(PAIR).allowed()).isTrue();
                });
    }
}

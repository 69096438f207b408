package io.ratelimit.actuate;

import java.util.function.Supplier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** Serves {@code /actuator/health/ratelimit} in Spring Boot 4. */
public final class RateLimitHealthIndicator implements HealthIndicator {

    private final Supplier<RateLimitHealth> health;

    public RateLimitHealthIndicator(Supplier<RateLimitHealth> health) {
        this.health = health;
    }

    @Override
    public Health health() {
        RateLimitHealth now = health.get();
        return Health.status(now.status()).withDetails(now.details()).build();
    }
}

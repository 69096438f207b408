package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Redis is killed, and comes back empty. */
class OutageTests {

    private final List<Application> applications = 
            List.of(Application.SERVLET, Application.REACTIVE, Application.JEDIS);

    private final String key = UUID.randomUUID().toString();

    @Test
    void eachApplicationLimitsAloneUntilRedisIsBack() {
        for (Application application : applications) {
            awaitHealth(application, "shared");
        }
        Application.redis().kill();
        try {
            for (Application application : applications) {
                application.allowed("/plain?key=" + key);
                application.allowed("/plain?key=" + key);
                application.rejected("plain", "/plain?key=" + key);
                awaitHealth(application, "on-store-failure");
                assertThat(application.log()).contains("Rate limit store unavailable");
            }
        } finally {
            Application.redis().restart();
        }
        for (Application application : applications) {
            awaitHealth(application, "shared");
            Await.until("a line that ends the outage", () -> {
                application.json("/actuator/health/ratelimit", "$.status");
                return application.log().contains("Rate limit store available again");
            });
        }
        Application.SERVLET.allowed("/plain?key=shared" + key);
        Application.REACTIVE.allowed("/plain?key=shared" + key);
        Application.JEDIS.rejected("plain", "/plain?key=shared" + key);
    }

    private static void awaitHealth(Application application, String limits) {
        Await.until("limits are " + limits, () -> limits.equals(
                application.<String>json("/actuator/health/ratelimit", "$.details.limits")));
    }
}

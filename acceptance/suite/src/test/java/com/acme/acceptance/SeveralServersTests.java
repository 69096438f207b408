package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A call has limits in two Redis servers. One of them is killed and comes back empty. */
class SeveralServersTests {

    private static final Redis EU = Redis.start();

    private static final Application APPLICATION = Application.start(
            "servlet",
            Stream.of(
                            Application.redis().properties(),
                            EU.properties("ratelimit.redis.eu"),
                            new String[] {
                                "ratelimit.limits.daily.redis=eu", "ratelimit.limits.daily.on-store-failure=reject"
                            })
                    .flatMap(Stream::of)
                    .toArray(String[]::new));

    private final String key = UUID.randomUUID().toString();

    private final String tenant = "tenant-" + key;

    private final String several = "/several?key=" + key + "&tenant=" + tenant;

    @Test
    void lostServerIsNamedAndLimitsOfTheOtherGoOn() {
        APPLICATION.allowed(several);
        APPLICATION.allowed(several);
        APPLICATION.rejected("burst", several);
        awaitRemaining("daily", tenant, 3);
        assertThat(states()).containsExactly(1.0, 1.0);

        EU.kill();
        try {
            // The limit of the lost server refuses the call, and the other one has its permit back.
            String other = "/several?key=other-" + key + "&tenant=" + tenant;
            assertThat(APPLICATION.get(other).statusCode()).isEqualTo(503);
            awaitRemaining("burst", "other-" + key, 2);
            APPLICATION.allowed("/plain?key=" + key);
            APPLICATION.allowed("/plain?key=" + key);
            APPLICATION.rejected("plain", "/plain?key=" + key);

            assertThat(APPLICATION.<List<String>>json("/actuator/health/ratelimit", "$.details.failures[*].redis"))
                    .containsExactly("eu");
            assertThat(APPLICATION.<String>json("/actuator/ratelimits", "$.store.servers.eu.state"))
                    .isEqualTo("on-store-failure");
            assertThat(APPLICATION.<String>json("/actuator/ratelimits", "$.store.servers.default.state"))
                    .isEqualTo("shared");
            assertThat(APPLICATION.log())
                    .contains("Rate limit store 'eu' unavailable")
                    .doesNotContain("Rate limit store 'default' unavailable");
            assertThat(states()).containsExactly(1.0, 0.0);
        } finally {
            EU.restart();
        }
        Await.until("Redis 'eu' decides", () -> "shared"
                .equals(APPLICATION.<String>json("/actuator/health/ratelimit", "$.details.limits")));
        APPLICATION.allowed("/several?key=third-" + key + "&tenant=" + tenant);
        awaitRemaining("daily", tenant, 4);
        assertThat(APPLICATION.log()).contains("Rate limit store 'eu' available again");
    }

    /** Of the default server and of the other one. */
    private static List<Double> states() {
        return Stream.of("default", "eu")
                .map(redis -> APPLICATION
                        .<Double>json("/actuator/metrics/ratelimit.redis.state?tag=redis:" + redis, "$.measurements[0].value"))
                .toList();
    }

    /** Refunds are sent in the background. */
    private static void awaitRemaining(String limit, String key, int remaining) {
        Await.until(remaining + " permits of " + limit, () -> APPLICATION
                        .<Integer>json("/actuator/ratelimits/" + limit + "?key=" + key, "$.remaining")
                == remaining);
    }
}

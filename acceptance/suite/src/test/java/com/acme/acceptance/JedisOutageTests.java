package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the driver would wait for without an end, a limit does not. */
class JedisOutageTests {

    private final String key = UUID.randomUUID().toString();

    /** A command of Jedis waits for an hour here, and if all connections are taken, for one of them without an end. */
    @Test
    void neitherAHangingRedisNorAnEmptyPoolHoldsUpACall() {
        Redis redis = Redis.start();
        Application application = Application.start(
                "jedis",
                Stream.concat(
                                Stream.of(redis.properties()),
                                Stream.of(
                                        "ratelimit.redis.timeout=2s",
                                        "spring.data.redis.timeout=1h",
                                        "spring.data.redis.jedis.pool.max-active=3"))
                        .toArray(String[]::new));
        awaitHealth(application, "shared");

        redis.pause();
        try {
            for (String method : new String[] {"plain", "mono", "future"}) {
                String path = "/" + method + "?key=" + key;
                application.allowed(path);
                application.allowed(path);
                application.rejected(method, path);
            }
            awaitHealth(application, "on-store-failure");
        } finally {
            redis.resume();
        }
        awaitHealth(application, "shared");
        application.allowed("/plain?key=other" + key);
    }

    private static void awaitHealth(Application application, String limits) {
        Await.until("limits are " + limits, () -> limits.equals(
                application.<String>json("/actuator/health/ratelimit", "$.details.limits")));
    }

    @Test
    void aRedisForLimitsAloneNeedsLettuce() {
        Application application = Application.start("jedis", "ratelimit.redis.url=redis://127.0.0.1:1");

        assertThat(application.logOfEnd())
                .contains("ratelimit.redis must have no connection properties without Lettuce on the class path.")
                .contains("io.lettuce:lettuce-core")
                .contains("spring.data.redis.client-type=jedis");
    }
}

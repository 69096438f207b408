package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.types.RedisClientInfo;

/** Applications that stop and start again in one JVM: for a checkpoint (CRaC), and when classes change (devtools). */
@Tag("redis")
@LongRunning
class RestartTests {

    private final String name = "restarted-" + UUID.randomUUID();

    private final String[] arguments = {
        "--spring.main.web-application-type=none",
        "--spring.main.banner-mode=off",
        "--spring.data.redis.host=" + SharedRedis.get().host(),
        "--spring.data.redis.port=" + SharedRedis.get().port(),
        "--spring.data.redis.client-name=" + name,
        "--ratelimit.redis.key-prefix=" + name,
        "--ratelimit.redis.timeout=10s",
        "--ratelimit.limits.leased.lease=10"
    };

    @Test
    void stopClosesEveryConnectionAndStartSharesDecisionsAgain() {
        LettuceConnectionFactory observer = SharedRedis.get().connect();
        try (RedisConnection redis = observer.getConnection();
                ConfigurableApplicationContext context = RestartedApplication.start(arguments)) {
            RateLimiter later = context.getBean(RateLimiterRegistry.class).get("later");
            assertThat(later.tryAcquire("alice").allowed()).isTrue();
            context.getBean(RestartedApplication.Quotes.class).leased();
            assertThat(connections(redis)).isPositive();

            context.stop();
            await().untilAsserted(() -> assertThat(connections(redis)).isZero());

            context.start();
            assertThat(connections(redis)).isPositive();
            assertThat(later.tryAcquire("alice").allowed()).isTrue();
            // In memory, there would be another permit.
            assertThat(later.tryAcquire("alice").allowed()).isFalse();
            context.getBean(RestartedApplication.Quotes.class).leased();
        } finally {
            observer.destroy();
        }
    }

    @Test
    void decisionsAreSharedAgainAfterCallsInBetween() {
        try (ConfigurableApplicationContext context = RestartedApplication.start(arguments);
                ConfigurableApplicationContext other = RestartedApplication.start(arguments)) {
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("later");
            context.stop();
            limiter.tryAcquire("bob");

            context.start();

            other.getBean(RateLimiterRegistry.class).get("later").tryAcquire("carol", 2);
            await().untilAsserted(
                            () -> assertThat(limiter.peek("carol").remaining()).isZero());
        }
    }

    private long connections(RedisConnection redis) {
        List<RedisClientInfo> clients = redis.serverCommands().getClientList();
        return clients.stream().filter(client -> name.equals(client.getName())).count();
    }

    @Test
    void restartsLeaveNeitherClassesNorThreads() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:SoftRefLRUPolicyMSPerMB=0",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                RestartedClasses.class.getName()));
        command.addAll(List.of(arguments));

        Process restarts = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (InputStream output = restarts.getInputStream()) {
            assertThat(new String(output.readAllBytes(), StandardCharsets.UTF_8))
                    .endsWith("Left: 0 class loaders, []\n");
        }
    }
}

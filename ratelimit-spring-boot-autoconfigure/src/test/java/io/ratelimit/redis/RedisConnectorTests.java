package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Our connections are a copy of the application's, and leave those as they are. */
class RedisConnectorTests {

    @Test
    void applicationsConnectionsStayAsTheyAre() throws Exception {
        LettuceConnectionFactory users = usersConnections(3);
        RedisConnector connector = new RedisConnector(users, Duration.ofMillis(5));
        connector.connect();
        connector.destroy();
        assertThat(users.isRunning()).isTrue();
        assertThat(users.getTimeout()).isEqualTo(7_000);
        assertThat(users.getClientConfiguration().getClientOptions())
                .get()
                .satisfies(options -> assertThat(options.getTimeoutOptions().isTimeoutCommands())
                        .isTrue());
        new StringRedisTemplate(users).hasKey("whatever");
        users.destroy();
    }

    @Test
    void databaseIsTheApplications() throws Exception {
        LettuceConnectionFactory users = usersConnections(3);
        RedisConnector connector = new RedisConnector(users, Duration.ofSeconds(10));
        String key = RedisUnderTest.newPrefix();
        new StringRedisTemplate(users).opsForValue().set(key, "value", Duration.ofMinutes(1));
        connector
                .delete(key.getBytes(StandardCharsets.US_ASCII))
                .toCompletableFuture()
                .join();
        assertThat(new StringRedisTemplate(users).hasKey(key)).isFalse();
        connector.destroy();
        users.destroy();
    }

    @Test
    void connectionsOfAnotherKindAreUsedAsTheyAre() throws Exception {
        LettuceConnectionFactory users = usersConnections(0);
        RedisConnector connector = new RedisConnector(new OtherConnectionFactory(users), Duration.ofSeconds(10));
        Probe probe = new Probe(RedisUnderTest.newPrefix(), new ScriptLanguage());
        assertThat(connector
                        .execute(probe.names("any"), probe.arguments())
                        .toCompletableFuture()
                        .join())
                .hasSize(4);
        connector.destroy();
        assertThat(users.isRunning()).isTrue();
        users.destroy();
    }

    private static LettuceConnectionFactory usersConnections(int database) {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(
                TestRedis.shared().host(), TestRedis.shared().port());
        server.setDatabase(database);
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                server,
                LettuceClientConfiguration.builder()
                        .commandTimeout(Duration.ofSeconds(7))
                        .build());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }
}

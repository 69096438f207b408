package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.ratelimit.RateLimitStoreException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.embedded.RedisSentinel;

/** The user of the Sentinels needs what docs/redis.md says. */
@Timeout(60)
class SentinelAclTests {

    private static final int PORT = TestRedis.freePort();

    private static OwnRedis redis;

    private static RedisSentinel sentinel;

    private static LettuceConnectionFactory admin;

    @BeforeAll
    static void start() {
        redis = new OwnRedis();
        sentinel = RedisSentinel.builder()
                .bind("127.0.0.1")
                .port(PORT)
                .masterName("limits")
                .masterPort(redis.connections().getPort())
                .quorumSize(1)
                .build();
        sentinel.start();
        admin = new LettuceConnectionFactory("127.0.0.1", PORT);
        admin.afterPropertiesSet();
        admin.start();
        DocumentedAcl.setUser(redis.connections(), DocumentedAcl.rules());
    }

    @AfterAll
    static void stop() {
        admin.destroy();
        sentinel.stop();
        redis.close();
    }

    @Test
    void documentedCommandIsEnough() {
        assertThatNoException().isThrownBy(() -> doEverythingWith(DocumentedAcl.sentinelRules()));
    }

    @Test
    void documentedCommandIsNeeded() {
        assertThatException()
                .isThrownBy(() -> doEverythingWith(List.of()))
                .withStackTraceContaining(RateLimitStoreException.class.getName());
    }

    private static void doEverythingWith(List<String> rules) throws Exception {
        DocumentedAcl.setUser(
                admin,
                Stream.concat(Stream.of("on", ">" + DocumentedAcl.PASSWORD), rules.stream())
                        .toList());
        RedisSentinelConfiguration servers =
                new RedisSentinelConfiguration().master("limits").sentinel("127.0.0.1", PORT);
        servers.setUsername(DocumentedAcl.USER);
        servers.setPassword(DocumentedAcl.PASSWORD);
        servers.setSentinelUsername(DocumentedAcl.USER);
        servers.setSentinelPassword(DocumentedAcl.PASSWORD);
        LettuceConnectionFactory users = new LettuceConnectionFactory(servers);
        users.afterPropertiesSet();
        users.start();
        try {
            EverythingInRedis.doneBy(users, redis.connections());
        } finally {
            users.destroy();
        }
    }
}

package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisProcess;
import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.StartedConnections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The user of the Sentinels needs what docs/redis-reference.md says. */
@Timeout(180)
@LongRunning
class SentinelAclTests {

    private static RedisServer redis;

    private static RedisProcess sentinel;

    private static LettuceConnectionFactory admin;

    @BeforeAll
    static void start() {
        redis = new RedisServer();
        sentinel = RedisProcess.sentinel("sentinel monitor limits " + RedisProcess.HOST + " " + redis.port() + " 1");
        admin = StartedConnections.to(RedisProcess.HOST, sentinel.port());
        DocumentedAcl.setUser(redis.connections(), DocumentedAcl.rules());
    }

    @AfterAll
    static void stop() {
        admin.destroy();
        sentinel.close();
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
                new RedisSentinelConfiguration().master("limits").sentinel(RedisProcess.HOST, sentinel.port());
        servers.setUsername(DocumentedAcl.USER);
        servers.setPassword(DocumentedAcl.PASSWORD);
        servers.setSentinelUsername(DocumentedAcl.USER);
        servers.setSentinelPassword(DocumentedAcl.PASSWORD);
        LettuceConnectionFactory users = StartedConnections.to(servers);
        try {
            EverythingInRedis.doneBy(users, redis.connections());
        } finally {
            users.destroy();
        }
    }
}

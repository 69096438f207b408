package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.StartedConnections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A user with the permissions that docs/redis-reference.md names can do everything, and needs each of them. */
@LongRunning
@Timeout(180)
class RedisAclTests {

    private static RedisServer redis;

    @BeforeAll
    static void start() {
        redis = new RedisServer();
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    static Stream<String> commands() {
        return DocumentedAcl.commands(DocumentedAcl.rules());
    }

    @Test
    void documentedCommandsAreEnough() {
        assertThatNoException().isThrownBy(() -> doEverythingWith(DocumentedAcl.rules()));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyDocumentedCommandIsNeeded(String command) {
        assertThatException()
                .isThrownBy(() -> doEverythingWith(DocumentedAcl.without(command, DocumentedAcl.rules())))
                .withStackTraceContaining(RateLimitStoreException.class.getName());
    }

    @Test
    void otherKeysAreNotNeeded() {
        assertThatException()
                .isThrownBy(() -> doEverythingWith(DocumentedAcl.rules().stream()
                        .map(rule -> rule.replace("~ratelimit:*", "~another:*"))
                        .toList()))
                .withStackTraceContaining(RateLimitStoreException.class.getName());
    }

    private static void doEverythingWith(List<String> rules) throws Exception {
        DocumentedAcl.setUser(redis.connections(), rules);
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
        server.setUsername(DocumentedAcl.USER);
        server.setPassword(DocumentedAcl.PASSWORD);
        LettuceConnectionFactory users = StartedConnections.to(server);
        try {
            EverythingInRedis.doneBy(users, redis.connections());
        } finally {
            users.destroy();
        }
    }
}

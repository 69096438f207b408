package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.StartedConnections;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * On a cluster, too, a user with the permissions that docs/redis-reference.md names can do everything, and needs each of them. The cluster
 * is this class's alone: with the calls of others it would know scripts again that it was told to forget.
 */
@Timeout(180)
@LongRunning
class RedisClusterAclTests {

    private static RedisCluster cluster;

    private static LettuceConnectionFactory admin;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.undisturbed();
        admin = cluster.connect();
    }

    @AfterAll
    static void stop() {
        admin.destroy();
        cluster.close();
    }

    static Stream<String> commands() {
        return DocumentedAcl.commands(DocumentedAcl.clusterRules());
    }

    @Test
    void documentedCommandsAreEnough() {
        assertThatNoException().isThrownBy(() -> doEverythingWith(DocumentedAcl.clusterRules()));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void everyDocumentedCommandIsNeeded(String command) {
        assertThatException()
                .as("without " + command)
                .isThrownBy(() -> doEverythingWith(DocumentedAcl.without(command, DocumentedAcl.clusterRules())))
                .withStackTraceContaining(RateLimitStoreException.class.getName());
    }

    private static void doEverythingWith(List<String> rules) throws Exception {
        RedisClusterConfiguration servers = new RedisClusterConfiguration();
        for (RedisClusterNode node : nodes()) {
            LettuceConnectionFactory one = StartedConnections.to(node.getRequiredHost(), node.getRequiredPort());
            DocumentedAcl.setUser(one, rules);
            one.destroy();
            servers.addClusterNode(node);
        }
        servers.setUsername(DocumentedAcl.USER);
        servers.setPassword(DocumentedAcl.PASSWORD);
        LettuceConnectionFactory users = StartedConnections.to(servers, admin.getClientConfiguration());
        try {
            EverythingInRedis.doneBy(users, admin);
        } finally {
            users.destroy();
        }
    }

    private static List<RedisClusterNode> nodes() {
        try (RedisClusterConnection connection = admin.getClusterConnection()) {
            List<RedisClusterNode> nodes = new ArrayList<>();
            connection.clusterGetNodes().forEach(nodes::add);
            return nodes;
        }
    }
}

package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.testing.redis.StartedConnections;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** On a cluster, too, a user with the permissions that docs/redis.md names can do everything, and needs each of them. */
@Timeout(180)
class RedisClusterAclTests {

    @RegisterExtension
    static final RedisClusterUnderTest cluster = new RedisClusterUnderTest();

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
                .isThrownBy(() -> doEverythingWith(DocumentedAcl.without(command, DocumentedAcl.clusterRules())))
                .withStackTraceContaining(RateLimitStoreException.class.getName());
    }

    private static void doEverythingWith(List<String> rules) throws Exception {
        RedisClusterConfiguration servers = new RedisClusterConfiguration();
        for (RedisClusterNode node : nodes()) {
            LettuceConnectionFactory admin = StartedConnections.to(node.getRequiredHost(), node.getRequiredPort());
            DocumentedAcl.setUser(admin, rules);
            admin.destroy();
            servers.addClusterNode(node);
        }
        servers.setUsername(DocumentedAcl.USER);
        servers.setPassword(DocumentedAcl.PASSWORD);
        LettuceConnectionFactory users =
                StartedConnections.to(servers, cluster.connections().getClientConfiguration());
        try {
            EverythingInRedis.doneBy(users, cluster.connections());
        } finally {
            users.destroy();
        }
    }

    private static List<RedisClusterNode> nodes() {
        try (RedisClusterConnection connection = cluster.connections().getClusterConnection()) {
            List<RedisClusterNode> nodes = new ArrayList<>();
            connection.clusterGetNodes().forEach(nodes::add);
            return nodes;
        }
    }
}

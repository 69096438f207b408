package io.ratelimit.redis;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The one Redis Cluster that all tests of a run share; it ends with the run.
 */
final class RedisClusterUnderTest extends ConnectedRedis {

    @Override
    LettuceConnectionFactory connect(ExtensionContext context) {
        return context.getRoot()
                .getStore(Namespace.create(RedisClusterUnderTest.class))
                .computeIfAbsent(OwnCluster.class)
                .connect();
    }

    /** How often the nodes together were sent a command. */
    long calls(String command) {
        try (RedisClusterConnection connection = connections().getClusterConnection()) {
            return connection.serverCommands().info("commandstats").entrySet().stream()
                    .filter(line -> line.getKey().toString().endsWith(".cmdstat_" + command))
                    .map(line -> line.getValue().toString())
                    .mapToLong(stats -> Long.parseLong(stats.substring("calls=".length(), stats.indexOf(','))))
                    .sum();
        }
    }
}

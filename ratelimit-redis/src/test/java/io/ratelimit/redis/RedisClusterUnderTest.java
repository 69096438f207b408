package io.ratelimit.redis;

import io.ratelimit.testing.redis.RedisCluster;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The Redis Cluster that all tests of a JVM share. */
public final class RedisClusterUnderTest extends ConnectedRedis {

    @Override
    LettuceConnectionFactory connect() {
        return Shared.CLUSTER.connect();
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

    private static final class Shared {

        private static final RedisCluster CLUSTER = RedisCluster.undisturbed();
    }
}

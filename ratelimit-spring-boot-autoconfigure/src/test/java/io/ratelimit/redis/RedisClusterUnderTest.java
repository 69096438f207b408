package io.ratelimit.redis;

import io.ratelimit.RateLimitStore;
import io.ratelimit.TimeSource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Connects a test class to the one Redis Cluster that all of a run share; it ends with the run. Every store has a key
 * prefix of its own.
 */
final class RedisClusterUnderTest implements BeforeAllCallback, AfterAllCallback {

    private LettuceConnectionFactory connections;

    @Override
    public void beforeAll(ExtensionContext context) {
        connections = context.getRoot()
                .getStore(Namespace.create(RedisClusterUnderTest.class))
                .computeIfAbsent(OwnCluster.class)
                .connect();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        connections.destroy();
    }

    LettuceConnectionFactory connections() {
        return connections;
    }

    StringRedisTemplate commands() {
        return new StringRedisTemplate(connections);
    }

    /** A store for which it is the given time. */
    RateLimitStore storeAt(TimeSource time) {
        return new RedisRateLimitStore(new FakeTimeScriptExecutor(connections, time), RedisUnderTest.newPrefix());
    }

    /** How often the nodes together were sent a command. */
    long calls(String command) {
        try (RedisClusterConnection connection = connections.getClusterConnection()) {
            return connection.serverCommands().info("commandstats").entrySet().stream()
                    .filter(line -> line.getKey().toString().endsWith(".cmdstat_" + command))
                    .map(line -> line.getValue().toString())
                    .mapToLong(stats -> Long.parseLong(stats.substring("calls=".length(), stats.indexOf(','))))
                    .sum();
        }
    }
}

package io.ratelimit.testing.redis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Connection factories as Spring Boot makes and starts them. The test ends them. */
public final class StartedConnections {

    private StartedConnections() {}

    public static LettuceConnectionFactory to(String host, int port) {
        return to(new RedisStandaloneConfiguration(host, port));
    }

    public static LettuceConnectionFactory to(RedisConfiguration servers) {
        return to(servers, LettuceClientConfiguration.defaultConfiguration());
    }

    public static LettuceConnectionFactory to(RedisConfiguration servers, LettuceClientConfiguration client) {
        // By the constructor that Spring Boot calls: only then do getters tell the servers and the user.
        LettuceConnectionFactory connections = servers instanceof RedisStandaloneConfiguration one
                ? new LettuceConnectionFactory(one, client)
                : new LettuceConnectionFactory(servers, client);
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }
}

package io.ratelimit.redis.connection;

import java.util.Collection;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.DomainSocketConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithHostAndPort;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** Describes the address of Redis for the log, without passwords. */
final class RedisAddress {

    private RedisAddress() {}

    /** Returns whether these are connections of Lettuce, which may be absent. */
    static boolean isLettuce(RedisConnectionFactory users) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", RedisAddress.class.getClassLoader())
                && users instanceof LettuceConnectionFactory;
    }

    /** Returns the servers of the application's connections, or {@code null} if those are unknown. Jedis may be absent. */
    static @Nullable RedisConfiguration servers(RedisConnectionFactory users) {
        if (isLettuce(users)) {
            LettuceConnectionFactory lettuce = (LettuceConnectionFactory) users;
            return first(
                    lettuce.getSentinelConfiguration(),
                    lettuce.getClusterConfiguration(),
                    lettuce.getSocketConfiguration(),
                    server(lettuce));
        }
        if (ClassUtils.isPresent("redis.clients.jedis.Jedis", RedisAddress.class.getClassLoader())
                && users instanceof JedisConnectionFactory jedis) {
            return first(
                    jedis.getSentinelConfiguration(),
                    jedis.getClusterConfiguration(),
                    jedis.getStandaloneConfiguration());
        }
        return null;
    }

    /**
     * Returns the one server. Connections that were not created with the type of this configuration do not return it, and tell no
     * user. A static master with replicas looks like a server at localhost.
     */
    private static @Nullable RedisConfiguration server(LettuceConnectionFactory users) {
        RedisStandaloneConfiguration known = users.getStandaloneConfiguration();
        RedisStandaloneConfiguration told = new RedisStandaloneConfiguration(users.getHostName(), users.getPort());
        told.setDatabase(users.getDatabase());
        told.setPassword(users.getPassword());
        told.setUsername(known.getUsername());
        if (told.equals(known)) {
            return known;
        }
        return told.getPassword().isPresent() ? null : told;
    }

    private static @Nullable RedisConfiguration first(@Nullable RedisConfiguration... known) {
        return Stream.of(known).filter(Objects::nonNull).findFirst().orElse(null);
    }

    static String of(@Nullable RedisConfiguration servers) {
        if (servers instanceof RedisSentinelConfiguration sentinels) {
            NamedNode master = sentinels.getMaster();
            String name = master == null ? "" : master.getName();
            return name + " (by the sentinels " + nodes(sentinels.getSentinels()) + ")";
        }
        if (servers instanceof RedisClusterConfiguration cluster) {
            return nodes(cluster.getClusterNodes());
        }
        if (servers instanceof WithHostAndPort server) {
            return server.getHostName() + ":" + server.getPort();
        }
        return servers instanceof DomainSocketConfiguration socket ? socket.getSocket() : "an unknown address";
    }

    private static String nodes(Collection<RedisNode> nodes) {
        return nodes.stream().map(node -> node.getHost() + ":" + node.getPort()).collect(Collectors.joining(", "));
    }
}

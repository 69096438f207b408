package io.ratelimit.redis.connection;

import java.util.Collection;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.DomainSocketConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithHostAndPort;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.util.ClassUtils;

/** Describes the address of Redis for the log, without passwords. */
final class RedisAddress {

    private RedisAddress() {}

    /** Of connections that are used as they are. Jedis may be absent. */
    static String of(RedisConnectionFactory users) {
        boolean known = ClassUtils.isPresent("redis.clients.jedis.Jedis", RedisAddress.class.getClassLoader())
                && users instanceof JedisConnectionFactory;
        return of(known ? servers((JedisConnectionFactory) users) : null);
    }

    private static @Nullable RedisConfiguration servers(JedisConnectionFactory users) {
        if (users.getSentinelConfiguration() != null) {
            return users.getSentinelConfiguration();
        }
        return users.getClusterConfiguration() == null
                ? users.getStandaloneConfiguration()
                : users.getClusterConfiguration();
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
        if (servers instanceof RedisStaticMasterReplicaConfiguration fixed) {
            return fixed.getNodes().stream().map(RedisAddress::server).collect(Collectors.joining(", "));
        }
        if (servers instanceof WithHostAndPort server) {
            return server(server);
        }
        return servers instanceof DomainSocketConfiguration socket ? socket.getSocket() : "an unknown address";
    }

    private static String server(WithHostAndPort server) {
        return server.getHostName() + ":" + server.getPort();
    }

    private static String nodes(Collection<RedisNode> nodes) {
        return nodes.stream().map(node -> node.getHost() + ":" + node.getPort()).collect(Collectors.joining(", "));
    }
}

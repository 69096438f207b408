package io.ratelimit.redis.connection;

import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;

/** Tells where Redis is, for the log: host and port, and never a password. */
final class RedisAddress {

    private RedisAddress() {}

    static String of(@Nullable RedisConfiguration servers) {
        if (servers instanceof RedisSentinelConfiguration sentinels) {
            NamedNode master = sentinels.getMaster();
            return (master == null ? "" : master.getName()) + " (by the sentinels " + nodes(sentinels.getSentinels())
                    + ")";
        }
        if (servers instanceof RedisClusterConfiguration cluster) {
            return nodes(cluster.getClusterNodes());
        }
        if (servers instanceof RedisStaticMasterReplicaConfiguration fixed) {
            return fixed.getNodes().stream()
                    .map(node -> node.getHostName() + ":" + node.getPort())
                    .collect(Collectors.joining(", "));
        }
        if (servers instanceof RedisConfiguration.DomainSocketConfiguration socket) {
            return socket.getSocket();
        }
        return servers instanceof RedisConfiguration.WithHostAndPort server
                ? server.getHostName() + ":" + server.getPort()
                : "an unknown address";
    }

    private static String nodes(Iterable<RedisNode> nodes) {
        StringBuilder names = new StringBuilder();
        for (RedisNode node : nodes) {
            names.append(names.isEmpty() ? "" : ", ")
                    .append(node.getHost())
                    .append(':')
                    .append(node.getPort());
        }
        return names.toString();
    }
}

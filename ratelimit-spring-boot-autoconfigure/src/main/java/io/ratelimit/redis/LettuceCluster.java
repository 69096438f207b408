package io.ratelimit.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.protocol.DefaultEndpoint;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The masters of a cluster, as far as Lettuce knows them. */
final class LettuceCluster implements Servers {

    /** In charge of slots that nobody is in charge of. */
    private static final String NOBODY = "Redis Cluster";

    private final Map<String, String> names = new ConcurrentHashMap<>();

    private final OwnConnections.Factory connections;

    LettuceCluster(OwnConnections.Factory connections) {
        this.connections = connections;
    }

    @Override
    public String of(byte[] key) {
        return name(partitions().getMasterBySlot(SlotHash.getSlot(key)));
    }

    /** Tags are tried until there is one for every master that has slots. */
    @Override
    public Map<String, String> tags() {
        Partitions partitions = partitions();
        long masters = partitions.stream()
                .filter(node -> node.getRole().isUpstream() && !node.hasNoSlots())
                .count();
        Map<String, String> tags = new HashMap<>();
        for (int i = 0; i < SlotHash.SLOT_COUNT && tags.size() < masters; i++) {
            String tag = "%probe" + i;
            RedisClusterNode master = partitions.getMasterBySlot(SlotHash.getSlot(tag));
            if (master != null) {
                tags.putIfAbsent(name(master), tag);
            }
        }
        return tags;
    }

    private String name(@Nullable RedisClusterNode master) {
        return master == null
                ? NOBODY
                : names.computeIfAbsent(
                        master.getNodeId(),
                        id -> REDIS + " at " + master.getUri().getHost() + ":"
                                + master.getUri().getPort());
    }

    /** Its replica may have its place. If not, the connection to it may be dead, and Lettuce makes another. */
    @Override
    public void renew(String server) {
        var unused = client().refreshPartitionsAsync();
        StatefulRedisClusterConnection<?, ?> cluster = connections.cluster();
        if (cluster != null) {
            partitions().stream()
                    .filter(node -> server.equals(names.get(node.getNodeId())))
                    .forEach(node -> disconnect(
                            cluster, node.getUri().getHost(), node.getUri().getPort()));
        }
    }

    private static void disconnect(StatefulRedisClusterConnection<?, ?> cluster, String host, int port) {
        var unused = cluster.getConnectionAsync(host, port).thenAccept(connection -> {
            if (connection instanceof RedisChannelHandler<?, ?> handler
                    && handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
                endpoint.disconnect();
            }
        });
    }

    private Partitions partitions() {
        return client().getPartitions();
    }

    private RedisClusterClient client() {
        return (RedisClusterClient) connections.getRequiredNativeClient();
    }
}

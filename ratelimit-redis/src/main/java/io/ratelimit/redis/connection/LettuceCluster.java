package io.ratelimit.redis.connection;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.ratelimit.redis.RedisTopology;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Describes the masters of a cluster as Lettuce knows them. */
final class LettuceCluster implements RedisTopology {

    /** The name of the server for slots that no master serves. */
    private static final String UNSERVED = "Redis Cluster";

    private final Map<String, String> names = new ConcurrentHashMap<>();

    private final Map<Integer, String> tagsOfSlots = new ConcurrentHashMap<>();

    private final DedicatedConnections connections;

    LettuceCluster(DedicatedConnections connections) {
        this.connections = connections;
    }

    @Override
    public boolean isClustered() {
        return true;
    }

    @Override
    public String serverOf(int slot) {
        return name(partitions().getMasterBySlot(slot));
    }

    @Override
    public Map<String, String> hashTags() {
        return hashTags(partitions());
    }

    /** Returns a tag of the first slot of every master, however few slots it has. */
    Map<String, String> hashTags(Partitions partitions) {
        Map<String, String> tags = new HashMap<>();
        for (int slot = 0; slot < SlotHash.SLOT_COUNT; slot++) {
            RedisClusterNode master = partitions.getMasterBySlot(slot);
            if (master != null && !tags.containsKey(name(master))) {
                tags.put(name(master), tagsOfSlots.computeIfAbsent(slot, LettuceCluster::tag));
            }
        }
        return tags;
    }

    /** Returns a hash tag in the slot. Tries numbers: below 300,000 there is one for every slot. */
    static String tag(int slot) {
        for (int i = 0; ; i++) {
            String tag = "%probe" + i;
            if (SlotHash.getSlot(tag) == slot) {
                return tag;
            }
        }
    }

    private String name(@Nullable RedisClusterNode master) {
        return master == null
                ? UNSERVED
                : names.computeIfAbsent(
                        master.getNodeId(),
                        id -> REDIS + " at " + master.getUri().getHost() + ":"
                                + master.getUri().getPort());
    }

    /** Looks for a new master. The connection to the old one may be dead, so it is closed, and Lettuce opens another. */
    @Override
    public void reconnect(String server) {
        var unused = client().refreshPartitionsAsync();
        if (connections.current() instanceof StatefulRedisClusterConnection<?, ?> cluster) {
            partitions().stream()
                    .filter(node -> server.equals(names.get(node.getNodeId())))
                    .forEach(node -> disconnect(
                            cluster, node.getUri().getHost(), node.getUri().getPort()));
        }
    }

    /** Reconnects, because Lettuce lets no call wait for it. */
    @Override
    public void disconnect(String server) {
        reconnect(server);
    }

    private static void disconnect(StatefulRedisClusterConnection<?, ?> cluster, String host, int port) {
        var unused = cluster.getConnectionAsync(host, port).thenAccept(DedicatedConnections::disconnect);
    }

    private Partitions partitions() {
        return client().getPartitions();
    }

    private RedisClusterClient client() {
        return (RedisClusterClient) connections.getRequiredNativeClient();
    }
}

package io.ratelimit.redis;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The masters of a cluster, as far as Lettuce knows them. */
final class LettuceCluster implements Servers {

    /** In charge of slots that nobody is in charge of. */
    private static final String NOBODY = "Redis Cluster";

    private final Map<String, String> names = new ConcurrentHashMap<>();

    private final LettuceConnectionFactory connections;

    LettuceCluster(LettuceConnectionFactory connections) {
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

    /** Its replica may have its place. A server that hangs is asked over the connection that it has. */
    @Override
    public void renew(String server) {
        var unused = client().refreshPartitionsAsync();
    }

    private Partitions partitions() {
        return client().getPartitions();
    }

    private RedisClusterClient client() {
        return (RedisClusterClient) connections.getRequiredNativeClient();
    }
}

package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every master can be probed. */
class ClusterTagsTests {

    @Test
    void thereIsATagForEverySlot() {
        BitSet slots = new BitSet();
        IntStream.range(0, 300_000).forEach(i -> slots.set(SlotHash.getSlot("%probe" + i)));
        assertThat(slots.cardinality()).isEqualTo(SlotHash.SLOT_COUNT);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5_000, 9_999, 16_383})
    void masterOfOneSlotHasATag(int slot) {
        Partitions partitions = new Partitions();
        partitions.add(
                master("many", 7_000, IntStream.range(0, SlotHash.SLOT_COUNT).filter(i -> i != slot)));
        partitions.add(master("one", 7_001, IntStream.of(slot)));
        partitions.add(master("none", 7_002, IntStream.empty()));
        partitions.updateCache();
        Map<String, String> tags = new LettuceCluster(null).hashTags(partitions);
        assertThat(tags).containsOnlyKeys("Redis at localhost:7000", "Redis at localhost:7001");
        assertThat(SlotHash.getSlot(tags.get("Redis at localhost:7001"))).isEqualTo(slot);
        assertThat(SlotHash.getSlot(tags.get("Redis at localhost:7000"))).isNotEqualTo(slot);
    }

    private static RedisClusterNode master(String id, int port, IntStream slots) {
        List<Integer> owned = slots.boxed().toList();
        return new RedisClusterNode(
                RedisURI.create("localhost", port), id, true, null, 0, 0, 0, owned, Set.of(NodeFlag.UPSTREAM));
    }
}

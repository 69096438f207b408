package io.ratelimit.outage;

import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisCluster;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Instances that start while a node of the cluster is down that the others know. */
@Timeout(300)
@LongRunning
class ClusterColdStartTests {

    @Test
    void callsAreDecidedThoughAMasterWasReplaced() {
        try (RedisCluster cluster = RedisCluster.withReplicas()) {
            cluster.awaitReplicas();
            cluster.master(0).kill();
            cluster.awaitPromotion(0);
            assertDecides(cluster);
        }
    }

    @Test
    void callsAreDecidedThoughAReplicaIsDown() {
        try (RedisCluster cluster = RedisCluster.withReplicas()) {
            cluster.awaitReplicas();
            cluster.replica(0).kill();
            assertDecides(cluster);
        }
    }

    private static void assertDecides(RedisCluster cluster) {
        try (Instance instance = new Instance(cluster.properties())) {
            await("decisions of all masters").until(() -> {
                long before = instance.decided();
                IntStream.range(0, 20)
                        .forEach(i -> instance.limiter(Instance.AMPLE).tryAcquire("key" + i));
                return instance.decided() - before == 20;
            });
        }
    }
}

package io.ratelimit.change;

import static io.ratelimit.change.OverriddenInstance.QUOTES;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitOverride;
import io.ratelimit.testing.redis.RedisCluster;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Overrides on a Redis Cluster, where one node has all of them. */
@Timeout(60)
class ClusterOverrideTests {

    @Test
    void overrideAppliesOnOtherInstances() {
        try (RedisCluster cluster = RedisCluster.undisturbed();
                OverriddenInstance first = OverriddenInstance.onCluster(nodes(cluster));
                OverriddenInstance second = OverriddenInstance.onCluster(nodes(cluster))) {
            first.admin()
                    .override(QUOTES, RateLimitOverride.builder().capacity(50).build());
            await().atMost(Duration.ofSeconds(5)).until(() -> second.limit().capacity() == 50);
            second.admin().removeOverride(QUOTES);
            await().atMost(Duration.ofSeconds(5)).until(() -> first.limit().capacity() == 10);
        }
    }

    private static String nodes(RedisCluster cluster) {
        return "127.0.0.1:" + cluster.master(0).port();
    }
}

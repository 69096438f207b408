package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisCluster;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two buckets of one call. One is on another node of the cluster already. */
@Timeout(180)
@LongRunning
class SlotMigrationTests {

    private static final String KEY = "mover";

    @Test
    void areDecidedKeyByKeyUntilBothAreThere() {
        try (RedisCluster shards = RedisCluster.withoutReplicas();
                Instance instance = new Instance(patient(shards))) {
            int from = shards.shardOf(KEY);
            int to = (from + 1) % RedisCluster.SHARDS;
            assertThat(call(instance).join().allowed()).isTrue();
            shards.beginMove(KEY, from, to);
            for (int call = 2; call <= Instance.SMALL_CAPACITY; call++) {
                assertThat(call(instance).join().allowed()).isTrue();
            }
            assertThat(call(instance).join().allowed()).isFalse();
            assertThat(shards.master(from).errors("TRYAGAIN")
                            + shards.master(to).errors("TRYAGAIN"))
                    .isPositive();
            shards.endMove(KEY, from, to);
            assertThat(call(instance).join().allowed()).isFalse();
            assertThat(instance.taken(KEY)).isEqualTo(Instance.SMALL_CAPACITY);
            assertThat(instance.notDecided()).isZero();
        }
    }

    private static List<String> patient(RedisCluster shards) {
        return Stream.concat(shards.properties().stream(), Stream.of("ratelimit.redis.timeout=30s"))
                .toList();
    }

    private static CompletableFuture<JointDecision> call(Instance instance) {
        return instance.bean(RateLimiterRegistry.class)
                .tryAcquireAllAsync(
                        List.of(new PermitRequest(Instance.SMALL, KEY, 1), new PermitRequest(Instance.AMPLE, KEY, 1)))
                .toCompletableFuture();
    }
}

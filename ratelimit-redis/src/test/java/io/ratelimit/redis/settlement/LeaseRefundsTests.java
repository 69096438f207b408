package io.ratelimit.redis.settlement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.ClusterSlot;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.ScriptedServers;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.script.Receipt;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.RedisConnectionFailureException;

/** On a cluster a script reaches one slot. */
class LeaseRefundsTests {

    private final RateLimit limit = RateLimit.named("quotes").rate("100/s").build();

    private final List<List<byte[]>> sent = new ArrayList<>();

    private final AtomicBoolean down = new AtomicBoolean();

    private final GuardedRedis redis = TestStores.guarded(
            new RateLimitScriptExecutor() {
                @Override
                public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
                    if (down.get()) {
                        return CompletableFuture.failedFuture(new RedisConnectionFailureException("down"));
                    }
                    sent.add(keys);
                    return CompletableFuture.completedFuture(List.of());
                }

                @Override
                public RedisTopology topology() {
                    return RedisTopology.UNKNOWN_CLUSTER;
                }
            },
            Duration.ofSeconds(20),
            "test");

    private final LeaseRefunds refunds = new LeaseRefunds(redis, new ScriptCodec(), new BucketNaming("test"));

    private Lease remainder(String key) {
        return remainder(key, Duration.ofDays(1));
    }

    private Lease remainder(String key, Duration resetAfter) {
        return new Lease(4, refunds.of(new Charge(limit, key, 1), new Receipt(5, 1, 0, 1), resetAfter));
    }

    /** Redis would refund what other calls have taken since, if its clock was set back. */
    @Test
    void permitsThatAreBackByTimeAreNotRefunded() {
        assertThat(Lease.refund(List.of(remainder("alice", Duration.ZERO)))).isCompleted();
        assertThat(sent).isEmpty();
        assertThat(Lease.refund(List.of(remainder("alice", Duration.ZERO), remainder("bob"))))
                .isCompleted();
        assertThat(sent).singleElement().asInstanceOf(LIST).hasSize(1);
    }

    @Test
    void everyScriptIsOfOneSlotAndIsPaidFor() {
        List<Lease> remainders = new ArrayList<>();
        IntStream.range(0, 50).forEach(key -> {
            remainders.add(remainder("key-" + key));
            remainders.add(remainder("key-" + key));
        });
        assertThat(remainders.get(0).unused().affordable()).isOne();
        assertThat(Lease.refund(remainders)).isCompleted();
        assertThat(sent)
                .allMatch(keys -> keys.stream().map(ClusterSlot::of).distinct().count() == 1);
        assertThat(sent).extracting(keys -> ClusterSlot.of(keys.get(0))).doesNotHaveDuplicates();
        assertThat(sent.stream().mapToInt(List::size).sum()).isEqualTo(100);
        assertThat(remainders.get(0).unused().affordable()).isZero();
        int scripts = sent.size();
        for (int i = 0; i < LeaseRefunds.SHARE * scripts; i++) {
            assertThat(redis.execute(List.of(new byte[1]), new byte[0][], redis.deadline()))
                    .isCompleted();
        }
        assertThat(remainders.get(0).unused().affordable()).isOne();
    }

    @Test
    void nothingIsRefundedInAnOutage() {
        Lease lease = remainder("alice");
        down.set(true);
        assertThat(redis.execute(List.of(new byte[1]), new byte[0][], redis.deadline()))
                .isCompletedExceptionally();
        assertThat(lease.unused().isAvailable()).isFalse();
        down.set(false);
        await().until(() -> lease.unused().isAvailable());
    }

    @Test
    void onlyLeasesOfTheServerThatFailsAreNotRefunded() {
        ScriptedServers servers = new ScriptedServers("alice", "bob");
        servers.fail("alice", new RedisConnectionFailureException("down"));
        BucketNaming keys = new BucketNaming("test");
        GuardedRedis cluster = TestStores.guarded(servers, Duration.ofSeconds(20), "test");
        LeaseRefunds ofCluster = new LeaseRefunds(cluster, new ScriptCodec(), keys);
        byte[] failing = keys.name(limit, "alice");
        assertThat(cluster.execute(List.of(failing), new byte[0][], cluster.deadline()))
                .isCompletedExceptionally();
        assertThat(isAvailable(ofCluster, "alice")).isFalse();
        assertThat(isAvailable(ofCluster, "bob")).isTrue();
        assertThat(isAvailable(ofCluster, "carol"))
                .as("of a slot without a server")
                .isFalse();
    }

    private boolean isAvailable(LeaseRefunds refunds, String key) {
        return refunds.of(new Charge(limit, key, 1), Receipt.NONE, Duration.ofDays(1))
                .isAvailable();
    }
}

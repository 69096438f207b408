package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.RedisProcess;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Every master gets the function, also one that comes later. Until then, its calls run as a script. */
@Timeout(180)
@LongRunning
class RedisFunctionClusterTests {

    /** Some on each shard. */
    private static final int KEYS = 30;

    private static RedisCluster cluster;

    private final RateLimitLibrary library = RateLimitLibrary.load();

    private final RateLimit limit = TestLimits.tokenBucket("limit", 1_000, "1/d");

    private LettuceConnectionFactory users;

    private RedisConnector connector;

    private RateLimitStore store;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.withReplicas();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @BeforeEach
    void connect() {
        users = cluster.connect();
        connector = new RedisConnector(users, Duration.ofSeconds(10), RateLimitScript.load(), library);
        connector.connect();
        store = TestStores.over(connector, RedisUnderTest.newPrefix());
    }

    @AfterEach
    void close() throws Exception {
        connector.destroy();
        users.destroy();
    }

    @Test
    void masterWithoutTheFunctionGetsIt() {
        await().until(() -> hasLibrary(cluster.master(0)) && hasLibrary(cluster.master(1)));
        assertThat(takeFromAll()).containsOnly(999L);
        RedisProcess empty = cluster.master(1);
        empty.send("FUNCTION", "FLUSH");
        empty.send("SCRIPT", "FLUSH");
        assertThat(takeFromAll()).containsOnly(998L);
        assertThat(takeFromAll()).containsOnly(997L);
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            takeFromAll();
            return hasLibrary(empty);
        });
        assertThat(takeFromAll().stream().distinct()).hasSize(1);
    }

    /** A replica has the function of its master, unless it was promoted too early. */
    @Test
    void replicaIsPromotedWithoutTheFunction() {
        int shard = 2;
        RedisProcess master = cluster.master(shard);
        RedisProcess replica = cluster.replica(shard);
        await().until(() -> hasLibrary(replica));
        replica.send("CONFIG", "SET", "replica-read-only", "no");
        replica.send("FUNCTION", "FLUSH");
        master.kill();
        cluster.awaitPromotion(shard);
        await().atMost(Duration.ofSeconds(60))
                .ignoreExceptions()
                .until(() -> takeFromAll().size() == KEYS);
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            long functions = functions(cluster.master(0)) + functions(cluster.master(1)) + functions(replica);
            takeFromAll();
            return functions(cluster.master(0)) + functions(cluster.master(1)) + functions(replica) - functions == KEYS;
        });
        assertThat(hasLibrary(replica)).isTrue();
    }

    private static long functions(RedisProcess node) {
        return ((String) node.send("INFO", "commandstats"))
                .lines()
                .filter(line -> line.startsWith("cmdstat_fcall:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll(".*calls=(\\d+),usec=.*", "$1")))
                .sum();
    }

    private boolean hasLibrary(RedisProcess node) {
        return node.send("FUNCTION", "LIST").toString().contains(library.name());
    }

    /** What remains of each key then. */
    private List<Long> takeFromAll() {
        return IntStream.range(0, KEYS)
                .mapToObj(i -> store.decide(new Charge(limit, "key" + i, 1))
                        .await()
                        .decision()
                        .remaining())
                .toList();
    }
}

package io.ratelimit.testing.redis;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A Redis Cluster of three shards, with a replica each or none, and the failures a test can cause. */
public final class RedisCluster implements AutoCloseable {

    public static final int SHARDS = 3;

    private static final int SLOTS = 16_384;

    /** A shard that does not answer for a second is replaced, or reported as down. */
    private static final String[] FAILOVER = {
        "cluster-node-timeout 1000", "cluster-replica-validity-factor 0", "cluster-migration-barrier 99"
    };

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<RedisProcess> masters = new ArrayList<>();

    private final List<RedisProcess> replicas = new ArrayList<>();

    private RedisCluster(boolean replicated, String... settings) {
        try {
            for (int shard = 0; shard < SHARDS; shard++) {
                masters.add(node(settings));
                if (replicated) {
                    replicas.add(node(settings));
                }
            }
            join();
            follow();
        } catch (RuntimeException ex) {
            close();
            throw ex;
        }
    }

    public static RedisCluster withReplicas() {
        return new RedisCluster(true, FAILOVER);
    }

    /** If one is down, the others go on. Each keeps on its disk what it has. */
    public static RedisCluster withoutReplicas() {
        return new RedisCluster(
                false,
                Stream.concat(
                                Stream.of(FAILOVER),
                                Stream.of("cluster-require-full-coverage no", "appendonly yes", "appendfsync always"))
                        .toArray(String[]::new));
    }

    /** For tests that cause no failure: no shard is down because the machine is busy. */
    public static RedisCluster undisturbed() {
        return new RedisCluster(false);
    }

    private static RedisProcess node(String... settings) {
        return RedisProcess.node(
                Stream.concat(Stream.of(settings), Stream.of("cluster-announce-ip " + RedisProcess.HOST))
                        .toArray(String[]::new));
    }

    private void join() {
        RedisProcess first = masters.get(0);
        for (int shard = 0; shard < SHARDS; shard++) {
            RedisProcess master = masters.get(shard);
            master.send("CLUSTER", "SET-CONFIG-EPOCH", shard + 1);
            master.send(slots(SLOTS * shard / SHARDS, SLOTS * (shard + 1) / SHARDS));
        }
        nodes().skip(1).forEach(node -> node.send("CLUSTER", "MEET", RedisProcess.HOST, first.port(), busPort(first)));
        nodes().forEach(this::awaitWhole);
    }

    private static Object[] slots(int from, int to) {
        return Stream.concat(
                        Stream.of("CLUSTER", "ADDSLOTS"),
                        IntStream.range(from, to).boxed())
                .toArray();
    }

    /** Before Redis 7, it cannot be chosen. */
    private static String busPort(RedisProcess node) {
        List<?> chosen = (List<?>) node.send("CONFIG", "GET", "cluster-port");
        return chosen.isEmpty()
                ? Integer.toString(node.port() + 10_000)
                : chosen.get(1).toString();
    }

    public void awaitWhole(RedisProcess node) {
        await("a whole cluster")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> info(node).contains("cluster_state:ok")
                        && info(node).contains("cluster_slots_ok:" + SLOTS)
                        && info(node).contains("cluster_known_nodes:" + nodes().count()));
    }

    private static String info(RedisProcess node) {
        return (String) node.send("CLUSTER", "INFO");
    }

    private void follow() {
        for (int shard = 0; shard < replicas.size(); shard++) {
            replicas.get(shard).send("CLUSTER", "REPLICATE", id(masters.get(shard)));
        }
        for (int shard = 0; shard < replicas.size(); shard++) {
            RedisProcess master = masters.get(shard);
            await("the replicas")
                    .atMost(PATIENCE)
                    .until(() -> ((String) master.send("INFO", "replication")).contains("state=online"));
            String follower = id(replicas.get(shard));
            nodes().forEach(node ->
                    await("a replica that all know of").atMost(PATIENCE).until(() -> isKnownAsReplica(node, follower)));
        }
    }

    private static boolean isKnownAsReplica(RedisProcess node, String id) {
        return ((String) node.send("CLUSTER", "NODES"))
                .lines()
                .anyMatch(line -> line.startsWith(id) && line.contains("slave"));
    }

    private static String id(RedisProcess node) {
        return (String) node.send("CLUSTER", "MYID");
    }

    private Stream<RedisProcess> nodes() {
        return Stream.concat(masters.stream(), replicas.stream());
    }

    /** What an application must be told to use it. */
    public List<String> properties() {
        return List.of("spring.data.redis.cluster.nodes="
                + nodes().map(RedisProcess::address).collect(Collectors.joining(",")));
    }

    /** A started connection factory, as Spring Boot would make it. */
    public LettuceConnectionFactory connect() {
        RedisClusterConfiguration servers = new RedisClusterConfiguration();
        nodes().forEach(node -> servers.addClusterNode(new RedisNode(RedisProcess.HOST, node.port())));
        ClusterClientOptions options = ClusterClientOptions.builder()
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .dynamicRefreshSources(true)
                        .build())
                .timeoutOptions(TimeoutOptions.enabled())
                .build();
        return StartedConnections.to(
                servers,
                LettuceClientConfiguration.builder().clientOptions(options).build());
    }

    /** Puts a wire before a shard; returns when all know that it is to be reached by that. */
    public FaultyProxy wire(int shard) {
        FaultyProxy wire = new FaultyProxy(masters.get(shard).port());
        masters.get(shard).send("CONFIG", "SET", "cluster-announce-port", wire.port());
        nodes().forEach(node -> await("the wire's port")
                .atMost(PATIENCE)
                .until(() -> ((String) node.send("CLUSTER", "NODES")).contains(":" + wire.port() + "@")));
        return wire;
    }

    public RedisProcess master(int shard) {
        return masters.get(shard);
    }

    /** The replica that the shard began with. */
    public RedisProcess replica(int shard) {
        return replicas.get(shard);
    }

    /** The number of the shard that the slots of this hash tag began in. */
    public int shardOf(String tag) {
        return shardOf(slot(tag));
    }

    /** The number of the shard that the slot began in. */
    public static int shardOf(int slot) {
        int shard = 0;
        while (slot >= SLOTS * (shard + 1) / SHARDS) {
            shard++;
        }
        return shard;
    }

    private int slot(String tag) {
        return Math.toIntExact((Long) masters.get(SHARDS - 1).send("CLUSTER", "KEYSLOT", tag));
    }

    public void awaitReplicas() {
        for (int shard = 0; shard < replicas.size(); shard++) {
            masters.get(shard).awaitCopy(replicas.get(shard));
        }
    }

    /** The replica of the shard is its master, and knows the cluster to be whole. */
    public void awaitPromotion(int shard) {
        RedisProcess replica = replicas.get(shard);
        await("a new master")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> RedisSentinels.isMaster(replica) && info(replica).contains("cluster_state:ok"));
    }

    /** Moves the slot of this hash tag, key by key, as redis-cli does. */
    public void move(String tag, int from, int to) {
        beginMove(tag, from, to);
        endMove(tag, from, to);
    }

    /** One of the slot's keys is on the other node then. */
    public void beginMove(String tag, int from, int to) {
        int slot = slot(tag);
        RedisProcess source = masters.get(from);
        RedisProcess target = masters.get(to);
        target.send("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source));
        source.send("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target));
        migrateOne(slot, source, target);
    }

    public void endMove(String tag, int from, int to) {
        int slot = slot(tag);
        RedisProcess source = masters.get(from);
        RedisProcess target = masters.get(to);
        while (migrateOne(slot, source, target)) {
            // Callers may add keys until the slot is the other's.
        }
        Stream.of(target, source).forEach(node -> node.send("CLUSTER", "SETSLOT", slot, "NODE", id(target)));
    }

    private static boolean migrateOne(int slot, RedisProcess source, RedisProcess target) {
        List<?> keys = (List<?>) source.send("CLUSTER", "GETKEYSINSLOT", slot, 1);
        for (Object key : keys) {
            source.send("MIGRATE", RedisProcess.HOST, target.port(), key, 0, 5_000);
        }
        return !keys.isEmpty();
    }

    @Override
    public void close() {
        nodes().forEach(RedisProcess::close);
    }
}

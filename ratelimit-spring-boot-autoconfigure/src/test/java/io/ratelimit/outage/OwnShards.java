package io.ratelimit.outage;

import static org.awaitility.Awaitility.await;

import io.ratelimit.redis.TestRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A Redis Cluster of three shards, with a replica each or none, and what can befall it. */
final class OwnShards implements AutoCloseable {

    static final int SHARDS = 3;

    private static final int SLOTS = 16_384;

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final List<RedisProcess> masters = new ArrayList<>();

    private final List<RedisProcess> replicas = new ArrayList<>();

    private OwnShards(boolean replicated, String... settings) {
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

    static OwnShards withReplicas() {
        return new OwnShards(true);
    }

    /** If one is down, the others go on. Each keeps on its disk what it has. */
    static OwnShards withoutReplicas() {
        return new OwnShards(false, "cluster-require-full-coverage no", "appendonly yes", "appendfsync always");
    }

    private static RedisProcess node(String... settings) {
        return RedisProcess.server(Stream.concat(
                        Stream.of(settings),
                        Stream.of(
                                "cluster-enabled yes",
                                "cluster-node-timeout 1000",
                                "cluster-port " + TestRedis.freePort(),
                                "cluster-announce-ip " + RedisProcess.HOST,
                                "cluster-replica-validity-factor 0",
                                "cluster-allow-replica-migration no"))
                .toArray(String[]::new));
    }

    private void join() {
        RedisProcess first = masters.get(0);
        for (int shard = 0; shard < SHARDS; shard++) {
            RedisProcess master = masters.get(shard);
            master.send("CLUSTER", "SET-CONFIG-EPOCH", shard + 1);
            master.send("CLUSTER", "ADDSLOTSRANGE", SLOTS * shard / SHARDS, SLOTS * (shard + 1) / SHARDS - 1);
        }
        nodes().skip(1).forEach(node -> node.send("CLUSTER", "MEET", RedisProcess.HOST, first.port(), busPort(first)));
        nodes().forEach(this::awaitWhole);
    }

    private static String busPort(RedisProcess node) {
        return ((List<?>) node.send("CONFIG", "GET", "cluster-port")).get(1).toString();
    }

    void awaitWhole(RedisProcess node) {
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
    List<String> properties() {
        return List.of("spring.data.redis.cluster.nodes="
                + nodes().map(RedisProcess::address).collect(Collectors.joining(",")));
    }

    /** Puts a wire before a shard; returns when all know that it is to be reached by that. */
    DisturbedWire wire(int shard) {
        DisturbedWire wire = new DisturbedWire(masters.get(shard).port());
        masters.get(shard).send("CONFIG", "SET", "cluster-announce-port", wire.port());
        nodes().forEach(node -> await("the wire's port")
                .atMost(PATIENCE)
                .until(() -> ((String) node.send("CLUSTER", "NODES")).contains(":" + wire.port() + "@")));
        return wire;
    }

    RedisProcess master(int shard) {
        return masters.get(shard);
    }

    /** The number of the shard that the slots of this hash tag began in. */
    int shardOf(String tag) {
        int slot = slot(tag);
        int shard = 0;
        while (slot >= SLOTS * (shard + 1) / SHARDS) {
            shard++;
        }
        return shard;
    }

    private int slot(String tag) {
        return Math.toIntExact((Long) masters.get(SHARDS - 1).send("CLUSTER", "KEYSLOT", tag));
    }

    void awaitReplicas() {
        masters.forEach(master -> master.send("WAIT", 1, 5_000));
    }

    /** The replica of the shard is its master, and knows the cluster to be whole. */
    void awaitPromotion(int shard) {
        RedisProcess replica = replicas.get(shard);
        await("a new master")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> OwnSentinels.isMaster(replica) && info(replica).contains("cluster_state:ok"));
    }

    /** Moves the slot of this hash tag, key by key, as redis-cli does. */
    void move(String tag, int from, int to) {
        beginMove(tag, from, to);
        endMove(tag, from, to);
    }

    /** One of the slot's keys is on the other node then. */
    void beginMove(String tag, int from, int to) {
        int slot = slot(tag);
        RedisProcess source = masters.get(from);
        RedisProcess target = masters.get(to);
        target.send("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source));
        source.send("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target));
        migrateOne(slot, source, target);
    }

    void endMove(String tag, int from, int to) {
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

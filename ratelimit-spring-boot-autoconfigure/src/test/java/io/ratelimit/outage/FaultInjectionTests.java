package io.ratelimit.outage;

import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.RedisProcess;
import io.ratelimit.testing.redis.RedisSentinels;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Whatever befalls Redis, callers go by the policy: no error, no admission too much, no permit charged twice, and limits
 * are shared again when it is back. At the end stands a table of what was measured.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@LongRunning
class FaultInjectionTests {

    private static final List<Findings> TABLE = Collections.synchronizedList(new ArrayList<>());

    /** So long that no call falls back because the machine is busy. */
    private static final String PATIENT = "ratelimit.redis.timeout=10s";

    private static final int IN_REDIS = 1;

    private static final int IN_REDIS_AND_IN_MEMORY = 2;

    @AfterAll
    static void print() {
        System.out.println(Findings.HEADER);
        TABLE.forEach(System.out::println);
    }

    @Test
    void serverHangs() {
        goesByPolicy("SIGSTOP", RedisServer::hang, RedisServer::goOn);
    }

    @Test
    void serverIsKilledAndRestarts() {
        goesByPolicy("SIGKILL, restart", RedisServer::kill, RedisServer::restart);
    }

    @Test
    void serverIsFull() {
        goesByPolicy("OOM", RedisServer::fill, RedisServer::drain);
    }

    @Test
    void serverBecomesAReplica() {
        goesByPolicy("READONLY", RedisServer::demote, RedisServer::promote);
    }

    @Test
    void serverWantsAPassword() {
        goesByPolicy("NOAUTH", RedisServer::lock, RedisServer::unlock);
    }

    @Test
    void userMayNotRunScripts() {
        goesByPolicy("NOPERM", RedisServer::forbidScripts, RedisServer::permitScripts);
    }

    @Test
    void anotherScriptDoesNotEnd() {
        goesByPolicy("BUSY", RedisServer::loop, RedisServer::endLoop);
    }

    @Test
    void serverIsLoading() {
        goesByPolicy("LOADING", RedisServer::load, RedisServer::awaitAnswer);
    }

    @Test
    void anotherTypeIsAtTheKeys() {
        concernsTheirKeysAlone("WRONGTYPE at half the keys", key -> List.of("HSET", key, "field", "value"));
    }

    @Test
    void garbageIsAtTheKeys() {
        concernsTheirKeysAlone("garbage at half the keys", key -> List.of("SET", key, "garbage"));
    }

    @Test
    void scriptsAreForgotten() {
        try (RedisServer server = new RedisServer();
                Outage outage = new Outage("SCRIPT FLUSH", patient(server.properties()))) {
            outage.begin().strike(() -> {
                for (int i = 0; i < 20; i++) {
                    server.forgetScripts();
                    awaitDecisions(outage);
                }
            });
            outage.recover(server::awaitAnswer);
            tabled(outage.findings(IN_REDIS)).assertDecidedByRedis();
        }
    }

    @Test
    void connectionIsResetBeforeTheReply() {
        try (RedisServer server = new RedisServer();
                FaultyProxy wire = new FaultyProxy(server.port());
                Outage outage = new Outage("reset after send, 20 times", RedisServer.propertiesVia(wire.port()))) {
            outage.begin().strike(() -> wire.loseReplies(20)).last();
            await("resets").atMost(Duration.ofSeconds(45)).until(() -> wire.repliesToLose() == 0);
            outage.recover(server::awaitAnswer);
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    @Test
    void nothingGetsThrough() {
        try (RedisServer server = new RedisServer();
                FaultyProxy wire = new FaultyProxy(server.port());
                Outage outage = new Outage("black hole", RedisServer.propertiesVia(wire.port()))) {
            outage.begin().strike(wire::swallow).last().recover(wire::pass);
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    @Test
    void masterOfSentinelsIsKilled() {
        try (RedisSentinels group = new RedisSentinels();
                Outage outage = new Outage("Sentinel: master killed", group.properties())) {
            outage.begin();
            group.awaitReplicas();
            outage.strike(group.master()::kill).recover(group::awaitPromotion);
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    @Test
    void masterOfSentinelsHangs() {
        try (RedisSentinels group = new RedisSentinels();
                Outage outage = new Outage("Sentinel: master hangs", group.properties())) {
            RedisProcess master = group.master();
            outage.begin();
            group.awaitReplicas();
            outage.strike(master::hang).recover(group::awaitPromotion);
            master.goOn();
            group.awaitDemotion(master);
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    @Test
    void masterOfAShardIsKilled() {
        failsOver("Cluster: master killed", RedisProcess::kill);
    }

    @Test
    void masterOfAShardHangs() {
        failsOver("Cluster: master hangs", RedisProcess::hang);
    }

    @Test
    void shardIsDown() {
        try (RedisCluster shards = RedisCluster.withoutReplicas();
                Outage outage = new Outage("Cluster: a shard down", shards.properties())) {
            RedisProcess master = shards.master(0);
            outage.begin().strike(master::kill).last().others(key -> shards.shardOf(key) != 0);
            outage.recover(() -> {
                master.start();
                master.awaitAnswer();
                shards.awaitWhole(master);
            });
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    /** As a firewall does that forgets: neither side hears of it, and new connections are well. */
    @Test
    void connectionsToAShardAreLost() {
        try (RedisCluster shards = RedisCluster.withoutReplicas();
                FaultyProxy wire = shards.wire(0);
                Outage outage = new Outage("Cluster: connections lost", shards.properties())) {
            outage.begin().strike(wire::loseConnections).recover(shards.master(0)::awaitAnswer);
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    @Test
    void slotsMove() {
        try (RedisCluster shards = RedisCluster.withoutReplicas();
                Outage outage = new Outage("Cluster: slots move", patient(shards.properties()))) {
            outage.begin().strike(() -> {});
            for (int round = 0; round < RedisCluster.SHARDS; round++) {
                for (String key : Outage.SPENT) {
                    int shard = (shards.shardOf(key) + round) % RedisCluster.SHARDS;
                    shards.move(key, shard, (shard + 1) % RedisCluster.SHARDS);
                    awaitDecisions(outage);
                }
            }
            outage.recover(() -> shards.awaitWhole(shards.master(0)));
            tabled(outage.findings(IN_REDIS)).assertDecidedByRedis();
        }
    }

    private static void goesByPolicy(String fault, Consumer<RedisServer> begin, Consumer<RedisServer> end) {
        try (RedisServer server = new RedisServer();
                Outage outage = new Outage(fault, server.properties())) {
            outage.begin().strike(() -> begin.accept(server)).last().recover(() -> end.accept(server));
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    private static void concernsTheirKeysAlone(String fault, Function<String, List<String>> foreign) {
        try (RedisServer server = new RedisServer();
                Outage outage = new Outage(fault, server.properties())) {
            List<String> keys = Outage.FRESH.stream()
                    .map(key -> "ratelimit:{" + key + "}:" + Instance.SMALL)
                    .toList();
            outage.begin()
                    .strike(() ->
                            keys.forEach(key -> server.send(foreign.apply(key).toArray())));
            outage.last().others(key -> true).recover(() -> keys.forEach(key -> server.send("DEL", key)));
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    private static void failsOver(String fault, Consumer<RedisProcess> event) {
        try (RedisCluster shards = RedisCluster.withReplicas();
                Outage outage = new Outage(fault, shards.properties())) {
            outage.begin();
            shards.awaitReplicas();
            outage.strike(() -> event.accept(shards.master(0))).recover(() -> shards.awaitPromotion(0));
            tabled(outage.findings(IN_REDIS_AND_IN_MEMORY)).assertGoneByPolicy();
        }
    }

    private static void awaitDecisions(Outage outage) {
        long before = outage.decisions();
        await("decisions").until(() -> outage.decisions() > before + 50);
    }

    private static List<String> patient(List<String> properties) {
        return Stream.concat(properties.stream(), Stream.of(PATIENT)).toList();
    }

    private static Findings tabled(Findings findings) {
        TABLE.add(findings);
        return findings;
    }
}

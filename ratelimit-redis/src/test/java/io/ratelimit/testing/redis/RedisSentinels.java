package io.ratelimit.testing.redis;

import static org.awaitility.Awaitility.await;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A master, two replicas, and three sentinels. Two of these must agree. */
public final class RedisSentinels implements AutoCloseable {

    private static final String NAME = "shop";

    private static final int REPLICAS = 2;

    private static final int SENTINELS = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<RedisProcess> servers = new ArrayList<>();

    private final List<RedisProcess> sentinels = new ArrayList<>();

    private RedisProcess master;

    public RedisSentinels() {
        try {
            master = RedisProcess.server();
            servers.add(master);
            startReplicas();
            startSentinels();
        } catch (RuntimeException ex) {
            close();
            throw ex;
        }
    }

    private void startReplicas() {
        for (int i = 0; i < REPLICAS; i++) {
            servers.add(RedisProcess.server("replicaof " + RedisProcess.HOST + " " + master.port()));
        }
        await("the replicas").atMost(PATIENCE).until(this::replicasAreOnline);
    }

    private boolean replicasAreOnline() {
        String info = (String) master.send("INFO", "replication");
        return info.split("state=online", -1).length == 1 + REPLICAS;
    }

    private void startSentinels() {
        for (int i = 0; i < SENTINELS; i++) {
            sentinels.add(RedisProcess.sentinel(
                    "sentinel monitor " + NAME + " " + RedisProcess.HOST + " " + master.port() + " 2",
                    "sentinel down-after-milliseconds " + NAME + " 500",
                    "sentinel failover-timeout " + NAME + " 3000",
                    "sentinel parallel-syncs " + NAME + " " + REPLICAS));
        }
        for (RedisProcess sentinel : sentinels) {
            await("sentinels that know each other").atMost(PATIENCE).until(() -> knowsAll(sentinel));
        }
    }

    private static boolean knowsAll(RedisProcess sentinel) {
        List<?> facts = (List<?>) sentinel.send("SENTINEL", "MASTER", NAME);
        return number(facts, "num-slaves") == REPLICAS && number(facts, "num-other-sentinels") == SENTINELS - 1;
    }

    private static int number(List<?> facts, String name) {
        return Integer.parseInt((String) facts.get(facts.indexOf(name) + 1));
    }

    /** What an application must be told to use it. */
    public List<String> properties() {
        return List.of(
                "spring.data.redis.sentinel.master=" + NAME,
                "spring.data.redis.sentinel.nodes="
                        + sentinels.stream().map(RedisProcess::address).collect(Collectors.joining(",")));
    }

    /** The replicas have all that the master was sent. */
    public void awaitReplicas() {
        servers.stream().filter(server -> server != master).forEach(master::awaitCopy);
    }

    public RedisProcess master() {
        return master;
    }

    /** Of a replica, after the master is gone. */
    public void awaitPromotion() {
        RedisProcess before = master;
        await("a new master")
                .atMost(PATIENCE)
                .ignoreException(UncheckedIOException.class)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> servers.stream().anyMatch(server -> server != before && isPromoted(server)));
    }

    /** Of a master that comes back after another was promoted. Its connections are closed when it is demoted. */
    public void awaitDemotion(RedisProcess former) {
        await("a replica")
                .atMost(PATIENCE)
                .ignoreException(UncheckedIOException.class)
                .until(() -> !isMaster(former));
    }

    /** By the word of a sentinel, and by its own. */
    private boolean isPromoted(RedisProcess server) {
        boolean promoted =
                sentinels.stream().anyMatch(sentinel -> masterPort(sentinel) == server.port()) && isMaster(server);
        if (promoted) {
            master = server;
        }
        return promoted;
    }

    private static int masterPort(RedisProcess sentinel) {
        List<?> address = (List<?>) sentinel.send("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
        return Integer.parseInt((String) address.get(1));
    }

    static boolean isMaster(RedisProcess server) {
        return ((List<?>) server.send("ROLE")).get(0).equals("master");
    }

    @Override
    public void close() {
        sentinels.forEach(RedisProcess::close);
        servers.forEach(RedisProcess::close);
    }
}

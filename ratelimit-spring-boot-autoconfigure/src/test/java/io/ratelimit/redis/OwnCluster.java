package io.ratelimit.redis;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.FileSystemUtils;
import redis.embedded.RedisServer;

/** A Redis Cluster of a test's own: masters without replicas, each with an equal share of the slots. */
final class OwnCluster implements AutoCloseable {

    static final int NODES = 3;

    private static final String HOST = "127.0.0.1";

    private static final int SLOTS = 16_384;

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path directory;

    private final List<Node> nodes = new ArrayList<>();

    OwnCluster() {
        try {
            directory = Files.createTempDirectory("ratelimit-cluster");
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        try {
            for (int i = 0; i < NODES; i++) {
                nodes.add(Node.start(directory, i));
            }
            join();
        } catch (RuntimeException ex) {
            close();
            throw ex;
        }
    }

    private void join() {
        RedisClient client = RedisClient.create();
        try {
            for (int i = 0; i < NODES; i++) {
                try (StatefulRedisConnection<String, String> connection = client.connect(uri(nodes.get(i)))) {
                    send(connection, "ADDSLOTSRANGE", firstSlot(i), firstSlot(i + 1) - 1);
                    send(connection, "MEET", HOST, nodes.get(0).port, nodes.get(0).busPort);
                }
            }
            for (Node node : nodes) {
                try (StatefulRedisConnection<String, String> connection = client.connect(uri(node))) {
                    await().atMost(PATIENCE)
                            .pollInterval(Duration.ofMillis(20))
                            .until(() -> isWhole(connection.sync().clusterInfo()));
                }
            }
        } finally {
            client.shutdown();
        }
    }

    private static void send(StatefulRedisConnection<String, String> connection, Object... command) {
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
        Stream.of(command).map(Object::toString).forEach(arguments::add);
        connection.sync().dispatch(CommandType.CLUSTER, new StatusOutput<>(StringCodec.UTF8), arguments);
    }

    private static boolean isWhole(String info) {
        return info.contains("cluster_state:ok")
                && info.contains("cluster_slots_ok:" + SLOTS)
                && info.contains("cluster_known_nodes:" + NODES);
    }

    private static RedisURI uri(Node node) {
        return RedisURI.create(HOST, node.port);
    }

    private static int firstSlot(int node) {
        return SLOTS * node / NODES;
    }

    /** The number of the node that has the slot. */
    static int nodeOf(int slot) {
        int node = 0;
        while (slot >= firstSlot(node + 1)) {
            node++;
        }
        return node;
    }

    /** A started connection factory, as Spring Boot would make it. */
    LettuceConnectionFactory connect() {
        RedisClusterConfiguration cluster = new RedisClusterConfiguration();
        nodes.forEach(node -> cluster.addClusterNode(new RedisNode(HOST, node.port)));
        ClusterClientOptions options = ClusterClientOptions.builder()
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .dynamicRefreshSources(true)
                        .build())
                .timeoutOptions(TimeoutOptions.enabled())
                .build();
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                cluster,
                LettuceClientConfiguration.builder().clientOptions(options).build());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    /** The end of the JVM stops the servers as well. */
    @Override
    public void close() {
        nodes.forEach(node -> node.server.stop());
        try {
            FileSystemUtils.deleteRecursively(directory);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private record Node(RedisServer server, int port, int busPort) {

        static Node start(Path directory, int number) {
            int port = TestRedis.freePort();
            int busPort = TestRedis.freePort();
            RedisServer server = RedisServer.builder()
                    .port(port)
                    .bind(HOST)
                    .setting("save \"\"")
                    .setting("appendonly no")
                    .setting("cluster-enabled yes")
                    .setting("cluster-port " + busPort)
                    .setting("cluster-announce-ip " + HOST)
                    .setting("cluster-config-file \"" + directory.resolve("nodes-" + number + ".conf") + "\"")
                    .build();
            server.start();
            return new Node(server, port, busPort);
        }
    }
}

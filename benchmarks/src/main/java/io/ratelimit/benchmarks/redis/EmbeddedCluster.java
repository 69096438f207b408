package io.ratelimit.benchmarks.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A Redis Cluster of three masters on this machine. */
public final class EmbeddedCluster implements AutoCloseable {

    private static final int MASTERS = 3;

    private static final int SLOTS = 16_384;

    private static final int ATTEMPTS = 300;

    private final List<EmbeddedRedis> masters = new ArrayList<>();

    private final List<Integer> busPorts = new ArrayList<>();

    public EmbeddedCluster() {
        try {
            // Each node writes the cluster's state there.
            Path directory = Files.createTempDirectory("benchmark-cluster");
            for (int i = 0; i < MASTERS; i++) {
                busPorts.add(EmbeddedRedis.freePort());
                masters.add(new EmbeddedRedis(
                        "cluster-enabled yes",
                        "cluster-port " + busPorts.get(i),
                        "cluster-announce-ip " + RedisAddress.HOST,
                        "dir " + directory,
                        "cluster-config-file nodes-" + i + ".conf"));
            }
            join();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void join() {
        RedisClient client = RedisClient.create();
        try {
            List<RedisCommands<String, String>> consoles = masters.stream()
                    .map(master -> client.connect(
                                    RedisURI.create(master.address().uri()))
                            .sync())
                    .toList();
            for (int i = 0; i < MASTERS; i++) {
                RedisCommands<String, String> console = consoles.get(i);
                console.clusterSetConfigEpoch(i + 1);
                console.clusterAddSlots(IntStream.range(SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS)
                        .toArray());
            }
            RedisCommands<String, String> first = consoles.get(0);
            for (int i = 1; i < MASTERS; i++) {
                first.dispatch(
                        CommandType.CLUSTER,
                        new StatusOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8)
                                .add("MEET")
                                .add(RedisAddress.HOST)
                                .add(masters.get(i).address().port())
                                .add(busPorts.get(i)));
            }
            consoles.forEach(EmbeddedCluster::awaitWhole);
        } finally {
            client.shutdown();
        }
    }

    private static void awaitWhole(RedisCommands<String, String> console) {
        @Nullable String info = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            info = console.clusterInfo();
            if (info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + MASTERS)) {
                return;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(100);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        throw new IllegalStateException("The cluster is not whole: " + info);
    }

    public RedisAddress address() {
        return new RedisAddress(
                masters.stream().map(master -> master.address().port()).toList());
    }

    @Override
    public void close() {
        for (EmbeddedRedis master : masters) {
            try {
                master.close();
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }
}

package io.ratelimit.benchmarks.redis;

import java.io.IOException;
import java.net.ServerSocket;
import redis.embedded.RedisExecProvider;
import redis.embedded.RedisServer;
import redis.embedded.RedisServerBuilder;
import redis.embedded.util.OS;

/**
 * A redis-server of our own, on a free port of the loopback: the one that Maven has brought, or the one whose path is in
 * {@code BENCHMARK_REDIS_SERVER}. It writes nothing to disk.
 */
public final class EmbeddedRedis implements AutoCloseable {

    private final RedisServer server;

    private final RedisAddress address;

    public EmbeddedRedis() throws IOException {
        this(new String[0]);
    }

    EmbeddedRedis(String... settings) throws IOException {
        this.address = RedisAddress.of(freePort());
        RedisServerBuilder builder = RedisServer.builder()
                .port(address.port())
                .bind(RedisAddress.HOST)
                .setting("save \"\"");
        for (String setting : settings) {
            builder.setting(setting);
        }
        String path = System.getenv("BENCHMARK_REDIS_SERVER");
        this.server = (path == null ? builder : builder.redisExecProvider(executable(path))).build();
        server.start();
    }

    private static RedisExecProvider executable(String path) {
        RedisExecProvider provider = RedisExecProvider.defaultProvider();
        for (OS os : OS.values()) {
            provider.override(os, path);
        }
        return provider;
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    public RedisAddress address() {
        return address;
    }

    @Override
    public void close() throws IOException {
        server.stop();
    }
}

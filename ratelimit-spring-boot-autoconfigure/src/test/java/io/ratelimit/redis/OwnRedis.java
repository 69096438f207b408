package io.ratelimit.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.embedded.RedisServer;

/** A redis-server of a test's own, and what can befall it. */
public final class OwnRedis implements AutoCloseable {

    private final int port = TestRedis.freePort();

    private final LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", port);

    private RedisServer server;

    private String process;

    public OwnRedis() {
        connections.afterPropertiesSet();
        connections.start();
        start();
    }

    /** The application's connections to it. */
    public LettuceConnectionFactory connections() {
        return connections;
    }

    void start() {
        server = TestRedis.startOwn(port);
        try (RedisConnection connection = connections.getConnection()) {
            process = connection.serverCommands().info("server").getProperty("process_id");
        }
    }

    /** It has no room for more, or has it again. */
    void fill(boolean full) {
        try (RedisConnection connection = connections.getConnection()) {
            connection.serverCommands().setConfig("maxmemory", full ? "1" : "0");
        }
    }

    /** It keeps its connections, and accepts more, but answers nothing. */
    void hang() {
        signal("STOP");
    }

    void goOn() {
        signal("CONT");
    }

    void stop() {
        server.stop();
    }

    private void signal(String signal) {
        try {
            new ProcessBuilder("kill", "-" + signal, process)
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        if (server.isActive()) {
            goOn();
            server.stop();
        }
        connections.destroy();
    }
}

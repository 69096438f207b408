package io.ratelimit.benchmarks.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;

/** A connection apart from those that are measured. */
public final class RedisConsole implements AutoCloseable {

    private final RedisClient client;

    private final RedisCommands<String, String> commands;

    public RedisConsole(RedisAddress redis) {
        this.client = RedisClient.create(redis.uri());
        this.commands = client.connect().sync();
    }

    public RedisLoad load() {
        return RedisLoad.soFar(commands);
    }

    /** Forgets all keys; scripts stay. */
    public void clear() {
        commands.flushall();
    }

    /** Bytes of all keys together. */
    public long bytes() {
        return commands.keys("*").stream().mapToLong(commands::memoryUsage).sum();
    }

    public String version() {
        return commands.info("server")
                .lines()
                .filter(line -> line.startsWith("redis_version:"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("?");
    }

    @Override
    public void close() {
        client.shutdown();
    }
}

package io.ratelimit.benchmarks.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import java.util.regex.Pattern;

/** Connections to each server, apart from those that are measured. */
public final class RedisConsole implements AutoCloseable {

    private static final Pattern USED_MEMORY = Pattern.compile("(?m)^used_memory:([0-9]+)");

    private final RedisClient client = RedisClient.create();

    private final List<RedisCommands<String, String>> servers;

    public RedisConsole(List<RedisAddress> addresses) {
        this.servers = addresses.stream()
                .flatMap(redis -> redis.uris().stream())
                .map(uri -> client.connect(RedisURI.create(uri)).sync())
                .toList();
    }

    /** What all servers have done so far. */
    public RedisLoad load() {
        return servers.stream().map(RedisLoad::soFar).reduce(RedisLoad.NONE, RedisLoad::plus);
    }

    /** Forgets all keys; scripts stay. */
    public void clear() {
        servers.forEach(RedisCommands::flushall);
    }

    /** Bytes of all keys together, each on its own. */
    public long bytes() {
        return servers.stream()
                .mapToLong(server ->
                        server.keys("*").stream().mapToLong(server::memoryUsage).sum())
                .sum();
    }

    /** All that the servers have allocated. */
    public long usedMemory() {
        return servers.stream()
                .flatMap(server -> USED_MEMORY.matcher(server.info("memory")).results())
                .mapToLong(found -> Long.parseLong(found.group(1)))
                .sum();
    }

    /** How many keys there are. */
    public long keys() {
        return servers.stream().mapToLong(RedisCommands::dbsize).sum();
    }

    /** With the allocator, which moves the ratios. */
    public String version() {
        return info("server", "redis_version") + " with " + info("memory", "mem_allocator");
    }

    private String info(String section, String field) {
        return servers.get(0)
                .info(section)
                .lines()
                .filter(line -> line.startsWith(field + ":"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("?");
    }

    @Override
    public void close() {
        client.shutdown();
    }
}

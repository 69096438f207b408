package io.ratelimit.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.internal.concurrent.BoundedWait;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs the starter's scripts on a real Redis whose {@code TIME} and expiries are the caller's. Each call waits for its reply. It
 * loses its data by forgetting where they are.
 */
public final class SimulatedServer {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** A key expires by the caller's time, and by that of Redis when no test needs it any more. */
    private static final String BEFORE = """
            local looked = {}
            local function name(key) return 'expiry ' .. key end
            local function expire(key, millis)
              server.call('SET', name(key), string.format('%.0f', now + millis * 1000), 'PX', 600000)
              return '600000'
            end
            function on_command(call, command, key, ...)
              if not looked[key] then
                looked[key] = true
                local at = server.call('GET', name(key))
                if at and at + 0 <= now then server.call('DEL', key, name(key)) end
              end
              local arguments = {...}
              if command == 'SET' and arguments[2] == 'PX' then
                arguments[3] = expire(key, arguments[3])
              elseif command == 'PEXPIRE' then
                arguments[1] = expire(key, arguments[1])
              elseif command == 'DEL' then
                server.call('DEL', name(key))
              end
              return call(command, key, unpack(arguments))
            end
            """;

    private static final String AFTER = """
            now = tonumber(ARGV[1])
            local arguments = {}
            for i = 2, #ARGV do arguments[i - 1] = ARGV[i] end
            return decide(KEYS, arguments)
            """;

    private static final String OVERRIDES_BEFORE = """
            local server, now = redis, table.remove(ARGV, 1)
            local redis = {error_reply = server.error_reply}
            function redis.call(command, key, value, ...)
              if command == 'TIME' then
                return {string.format('%.0f', math.floor(now / 1000000)), string.format('%06.0f', now % 1000000)}
              end
              if command == 'PEXPIRE' then return server.call(command, key, 600000) end
              return value and server.call(command, key, value) or server.call(command, key)
            end
            redis.pcall = redis.call
            """;

    private final RedisClusterAsyncCommands<byte[], byte[]> commands;

    private final Script decisions;

    private final Script overrides;

    /** The text of a script, and its digest. */
    // Never compared.
    @SuppressWarnings("ArrayRecordComponent")
    private record Script(byte[] text, String digest) {}

    private final String prefix = RedisUnderTest.newPrefix();

    private int losses;

    @SuppressWarnings("unchecked")
    public SimulatedServer(RedisConnectionFactory connections, RateLimitAlgorithm... own) {
        try (RedisConnection connection = connections.getConnection()) {
            commands = (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
        }
        decisions = script(WrappedScript.of(RateLimitScript.scriptParts(), BEFORE, AFTER, List.of(own))
                .getScriptAsString());
        overrides = script(OVERRIDES_BEFORE + text("io/ratelimit/redis/overrides.lua"));
    }

    private Script script(String text) {
        return new Script(bytes(text), commands.digest(text));
    }

    private static String text(String path) {
        try {
            return new ClassPathResource(path).getContentAsString(StandardCharsets.UTF_8);
        } catch (java.io.IOException ex) {
            throw new java.io.UncheckedIOException(ex);
        }
    }

    /** Runs the script that decides, at that time. */
    public List<Long> decide(long micros, List<byte[]> keys, byte[][] arguments) {
        List<byte[]> all = new ArrayList<>();
        all.add(bytes(Long.toString(micros)));
        all.addAll(List.of(arguments));
        return run(decisions, ScriptOutputType.MULTI, keys, all);
    }

    /** Runs the script of the overrides, at that time. */
    public String overrides(long micros, List<String> arguments) {
        List<byte[]> all = new ArrayList<>();
        all.add(bytes(Long.toString(micros)));
        arguments.forEach(argument -> all.add(bytes(argument)));
        byte[] reply = run(overrides, ScriptOutputType.VALUE, List.of(bytes("overrides")), all);
        return new String(reply, StandardCharsets.UTF_8);
    }

    /** As after a restart without data. */
    public void loseData() {
        losses++;
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // As Lettuce declares it: the type of the output says it.
    private <T> T run(Script script, ScriptOutputType type, List<byte[]> keys, List<byte[]> arguments) {
        byte[][] names = keys.stream().map(this::named).toArray(byte[][]::new);
        byte[][] values = arguments.toArray(byte[][]::new);
        CompletableFuture<T> reply = commands.<T>evalsha(script.digest, type, names, values)
                .toCompletableFuture()
                .exceptionallyCompose(unknown -> String.valueOf(unknown.getMessage())
                                .contains("NOSCRIPT")
                        ? commands.<T>eval(script.text, type, names, values).toCompletableFuture()
                        : CompletableFuture.failedFuture(unknown));
        return await(reply);
    }

    private static <T> T await(CompletableFuture<T> reply) {
        return BoundedWait.get(reply, PATIENCE);
    }

    private byte[] named(byte[] key) {
        byte[] before = bytes(prefix + "-" + losses + ":");
        byte[] name = new byte[before.length + key.length];
        System.arraycopy(before, 0, name, 0, before.length);
        System.arraycopy(key, 0, name, before.length, key.length);
        return name;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

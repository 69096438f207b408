package io.ratelimit.redis.connection;

import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.redis.RateLimitLibrary;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs calls with the commands of the template, which sends a script's digest first and its text on {@code NOSCRIPT}. The driver
 * blocks, so threads of the starter wait for it, and callers wait no longer than their deadlines. On a cluster, Spring Data
 * cannot send {@code FCALL} to the master of a key, so that calls always run as the script.
 */
public final class BlockingScriptExecutor extends TemplateScriptExecutor {

    private static final int THREADS = 16;

    private static final int WAITING_CALLS = 1_000;

    /** All calls depend on these threads, so continuations of applications do not run on them. */
    private final Executor threads = DaemonThreads.createService("ratelimit-redis", THREADS, WAITING_CALLS);

    /** @param library to run as a function; {@code null} = always the script */
    public BlockingScriptExecutor(
            RedisConnectionFactory connections, RedisScript<List<Long>> script, @Nullable RateLimitLibrary library) {
        super(connections, script, library);
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return CompletableFuture.supplyAsync(() -> run(keys, arguments), threads);
    }

    private List<Long> run(List<byte[]> keys, byte[][] arguments) {
        RateLimitFunction function = function();
        if (function != null && function.isUsable()) {
            try {
                return runFunction(function.name(), keys, arguments);
            } catch (RuntimeException ex) {
                if (!function.hasNotRun(ex)) {
                    throw ex;
                }
            }
        }
        return runScript(keys, arguments);
    }

    @SuppressWarnings("unchecked")
    private List<Long> runFunction(String name, List<byte[]> keys, byte[][] arguments) {
        List<byte[]> words = new ArrayList<>(2 + keys.size() + arguments.length);
        words.add(bytes(name));
        words.add(bytes("" + keys.size()));
        words.addAll(keys);
        words.addAll(List.of(arguments));
        List<Long> reply = (List<Long>) template().execute((RedisCallback<@Nullable Object>)
                connection -> connection.execute("FCALL", words.toArray(byte[][]::new)));
        return reply == null ? List.of() : reply;
    }

    @Override
    CompletionStage<?> load(RateLimitLibrary library) {
        return CompletableFuture.supplyAsync(
                        () -> template()
                                .execute((RedisCallback<CompletionStage<?>>) connection -> load(library, connection)),
                        threads)
                .thenCompose(Function.identity());
    }

    private static CompletionStage<?> load(RateLimitLibrary library, RedisConnection connection) {
        return connection instanceof RedisClusterConnection
                ? CompletableFuture.failedFuture(
                        new UnsupportedOperationException("Spring Data cannot send FCALL to the master of a key"))
                : LibraryLoader.loadIfMissing(library, (command, arguments) -> send(connection, command, arguments));
    }

    private static CompletableFuture<String> send(RedisConnection connection, String command, String... arguments) {
        byte[][] words = Stream.of(arguments).map(BlockingScriptExecutor::bytes).toArray(byte[][]::new);
        try {
            return CompletableFuture.completedFuture(String.valueOf(connection.execute(command, words)));
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private List<Long> runScript(List<byte[]> keys, byte[][] arguments) {
        List<Long> reply = template().execute(script(), BYTES, (RedisSerializer) BYTES, keys, (Object[]) arguments);
        return reply == null ? List.of() : reply;
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return CompletableFuture.supplyAsync(() -> template().delete(key), threads);
    }
}

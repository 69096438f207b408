package io.ratelimit.redis.connection;

import io.ratelimit.internal.concurrent.DaemonThreads;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs the script with the commands of the template, which send its digest first and its text on {@code NOSCRIPT}. The driver
 * blocks, so threads of the starter wait for it, and callers wait no longer than their deadlines. Calls never run as a function,
 * because Spring Data has no {@code FCALL} that works with every driver.
 */
public final class BlockingScriptExecutor extends TemplateScriptExecutor {

    private static final int THREADS = 16;

    private static final int WAITING_CALLS = 1_000;

    /** All calls depend on these threads, so continuations of applications do not run on them. */
    private final Executor threads = DaemonThreads.createService("ratelimit-redis", THREADS, WAITING_CALLS);

    public BlockingScriptExecutor(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        super(connections, script);
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return CompletableFuture.supplyAsync(() -> run(keys, arguments), threads);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private List<Long> run(List<byte[]> keys, byte[][] arguments) {
        List<Long> reply = template().execute(script(), BYTES, (RedisSerializer) BYTES, keys, (Object[]) arguments);
        return reply == null ? List.of() : reply;
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return CompletableFuture.supplyAsync(() -> template().delete(key), threads);
    }
}

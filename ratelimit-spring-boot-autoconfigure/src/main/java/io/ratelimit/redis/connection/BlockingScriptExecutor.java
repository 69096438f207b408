package io.ratelimit.redis.connection;

import io.ratelimit.concurrent.DaemonThreads;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs the script by the template's own commands, which try its digest first and send its text on {@code NOSCRIPT}. The
 * driver blocks: threads of our own wait for it, as many as may wait at once, so that no caller has to wait longer than it
 * wants to.
 */
public final class BlockingScriptExecutor extends TemplateScriptExecutor {

    private static final int THREADS = 16;

    private static final int WAITING_CALLS = 1_000;

    /** All calls depend on them, so what applications have follow a decision does not run there. */
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

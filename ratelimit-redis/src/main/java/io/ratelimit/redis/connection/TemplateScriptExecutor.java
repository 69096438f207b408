package io.ratelimit.redis.connection;

import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs the script with the commands of Spring Data's template, which send its digest first and its text on {@code NOSCRIPT}. Most
 * drivers block, so threads of the starter wait for them, and callers wait no longer than their deadlines. Calls never run as a
 * function, because Spring Data has no {@code FCALL} that works with every driver.
 */
public class TemplateScriptExecutor implements RateLimitScriptExecutor {

    private static final int THREADS = 16;

    private static final int WAITING_CALLS = 1_000;

    private static final RedisSerializer<byte[]> BYTES = RedisSerializer.byteArray();

    private final RedisScript<List<Long>> script;

    private final RedisTemplate<byte[], byte[]> template = new RedisTemplate<>();

    /** All calls depend on these threads, so continuations of applications do not run on them. */
    private final Executor threads = DaemonThreads.createService("ratelimit-redis", THREADS, WAITING_CALLS);

    private final TextScriptExecutor.Digests digests = new TextScriptExecutor.Digests();

    private volatile boolean clustered;

    public TemplateScriptExecutor(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        this.script = script;
        template.setConnectionFactory(connections);
        template.setEnableDefaultSerializer(false);
        template.setKeySerializer(BYTES);
        template.setValueSerializer(BYTES);
        template.setScriptExecutor(new TextScriptExecutor<>(template, digests));
        template.afterPropertiesSet();
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return CompletableFuture.supplyAsync(() -> run(keys, arguments), threads);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private List<Long> run(List<byte[]> keys, byte[][] arguments) {
        List<Long> reply = template.execute(script, BYTES, (RedisSerializer) BYTES, keys, (Object[]) arguments);
        return reply == null ? List.of() : reply;
    }

    /** Returns what is known of the server for all scripts. */
    TextScriptExecutor.Digests digests() {
        return digests;
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return CompletableFuture.supplyAsync(() -> template.delete(key), threads);
    }

    @Override
    public RedisTopology topology() {
        return clustered ? RedisTopology.UNKNOWN_CLUSTER : RedisTopology.ONE_SERVER;
    }

    /** Connects. Blocks. The first call of each server takes the script there: nothing but {@code EVAL} is needed. */
    void prepare() {
        clustered = Boolean.TRUE.equals(
                template.execute((RedisCallback<Boolean>) connection -> connection instanceof RedisClusterConnection));
    }

    /** Returns what the server reports about its memory; on a cluster each name is prefixed with its node. Blocks. */
    Properties memory() {
        Properties memory = template.execute((RedisCallback<Properties>)
                connection -> connection.serverCommands().info("memory"));
        return memory == null ? new Properties() : memory;
    }
}

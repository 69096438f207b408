package io.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs the script through Spring Data's template, which tries its digest first and sends its text on {@code NOSCRIPT}. The
 * driver blocks: threads of our own wait for it, as many as may wait at once, so that no caller has to wait longer than it
 * wants to.
 */
class TemplateScriptExecutor implements ConnectingExecutor {

    private static final RedisSerializer<byte[]> BYTES = RedisSerializer.byteArray();

    private static final int THREADS = 16;

    private static final int WAITING_CALLS = 1_000;

    private final RedisScript<List<Long>> script;

    private final RedisTemplate<byte[], byte[]> template = new RedisTemplate<>();

    private final ThreadPoolExecutor threads;

    private volatile boolean clustered;

    TemplateScriptExecutor(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        this.script = script;
        template.setConnectionFactory(connections);
        template.setEnableDefaultSerializer(false);
        template.setKeySerializer(BYTES);
        template.setValueSerializer(BYTES);
        template.afterPropertiesSet();
        this.threads = threads();
    }

    private static ThreadPoolExecutor threads() {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(WAITING_CALLS), task -> {
                    Thread waiting = new Thread(task, "ratelimit-redis");
                    waiting.setDaemon(true);
                    return waiting;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** The executor that suits the driver. */
    static ConnectingExecutor over(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        return connections instanceof ReactiveRedisConnectionFactory reactive
                ? new ReactiveScriptExecutor(reactive, script)
                : new TemplateScriptExecutor(connections, script);
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

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return CompletableFuture.supplyAsync(() -> template.delete(key), threads);
    }

    @Override
    public boolean isClustered() {
        return clustered;
    }

    @Override
    public void prepare() {
        byte[] text = script.getScriptAsString().getBytes(StandardCharsets.UTF_8);
        template.execute((RedisCallback<String>) connection -> {
            clustered = connection instanceof RedisClusterConnection;
            return connection.scriptingCommands().scriptLoad(text);
        });
    }

    @Override
    public Properties memory() {
        Properties memory = template.execute((RedisCallback<Properties>)
                connection -> connection.serverCommands().info("memory"));
        return memory == null ? new Properties() : memory;
    }
}

package io.ratelimit.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/** Runs the script through Spring Data's template, which tries its digest first and sends its text on {@code NOSCRIPT}. */
class TemplateScriptExecutor implements RateLimitScriptExecutor {

    private static final RedisSerializer<byte[]> BYTES = RedisSerializer.byteArray();

    private final RedisScript<List<Long>> script;

    private final RedisTemplate<byte[], byte[]> template = new RedisTemplate<>();

    private volatile boolean clustered;

    TemplateScriptExecutor(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        this.script = script;
        template.setConnectionFactory(connections);
        template.setEnableDefaultSerializer(false);
        template.setKeySerializer(BYTES);
        template.setValueSerializer(BYTES);
        template.afterPropertiesSet();
    }

    /** The executor that suits the driver: one without a reactive face has a pool's thread wait instead of the caller. */
    static TemplateScriptExecutor over(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        return connections instanceof ReactiveRedisConnectionFactory
                ? new ReactiveScriptExecutor(connections, script)
                : new TemplateScriptExecutor(connections, script);
    }

    RedisScript<List<Long>> script() {
        return script;
    }

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public List<Long> execute(List<byte[]> keys, byte[][] arguments) {
        List<Long> reply = template.execute(script, BYTES, (RedisSerializer) BYTES, keys, (Object[]) arguments);
        return reply == null ? List.of() : reply;
    }

    @Override
    public CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments) {
        return CompletableFuture.supplyAsync(() -> execute(keys, arguments));
    }

    @Override
    public boolean isClustered() {
        return clustered;
    }

    @Override
    public void delete(byte[] key) {
        template.delete(key);
    }

    /** Connects, makes the script known to the server and runs it once, so that the first call need not. */
    void prepare() {
        byte[] text = script.getScriptAsString().getBytes(StandardCharsets.UTF_8);
        template.execute((RedisCallback<String>) connection -> {
            clustered = connection instanceof RedisClusterConnection;
            return connection.scriptingCommands().scriptLoad(text);
        });
        execute(List.of(), new byte[][] {{'0'}});
    }
}

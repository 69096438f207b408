package io.ratelimit.redis.connection;

import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
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

    private final RedisScript<List<Long>> script;

    private final RedisTemplate<String, String> template = new RedisTemplate<>();

    private final TextScriptExecutor scripts = new TextScriptExecutor(template);

    /** All calls depend on these threads, so continuations of applications do not run on them. */
    private final Executor threads = DaemonThreads.createService("ratelimit-redis", THREADS, WAITING_CALLS);

    private volatile boolean clustered;

    public TemplateScriptExecutor(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        this.script = script;
        template.setConnectionFactory(connections);
        template.setDefaultSerializer(RedisSerializer.string());
        template.setScriptExecutor(scripts);
        template.afterPropertiesSet();
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return CompletableFuture.supplyAsync(() -> run(keys, arguments), threads);
    }

    private List<Long> run(List<byte[]> keys, byte[][] arguments) {
        byte[][] all = Stream.concat(keys.stream(), Stream.of(arguments)).toArray(byte[][]::new);
        List<Long> reply = template.execute(
                (RedisCallback<@Nullable List<Long>>) connection -> scripts.eval(connection, script, keys.size(), all));
        return reply == null ? List.of() : reply;
    }

    /** Returns the template for commands beside the script that decides. */
    RedisOperations<String, String> template() {
        return template;
    }

    /** Returns what is known of the server for all scripts. */
    TextScriptExecutor.Digests digests() {
        return scripts.digests();
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
}

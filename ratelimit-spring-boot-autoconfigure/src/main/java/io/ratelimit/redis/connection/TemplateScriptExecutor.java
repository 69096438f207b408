package io.ratelimit.redis.connection;

import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.util.ClassUtils;

/** Runs calls through Spring Data's template: as the function where Redis has it, else as the script. */
public abstract class TemplateScriptExecutor implements RateLimitScriptExecutor {

    /** The most time that a connection waits for the function to be loaded. */
    private static final Duration LOAD = Duration.ofSeconds(1);

    static final RedisSerializer<byte[]> BYTES = RedisSerializer.byteArray();

    private final RedisScript<List<Long>> script;

    private final RedisTemplate<byte[], byte[]> template = new RedisTemplate<>();

    private volatile boolean clustered;

    private final @Nullable RateLimitFunction function;

    /** @param library to run as a function; {@code null} = always the script */
    TemplateScriptExecutor(
            RedisConnectionFactory connections, RedisScript<List<Long>> script, @Nullable RateLimitLibrary library) {
        this.script = script;
        this.function = library == null ? null : new RateLimitFunction(library, () -> load(library));
        template.setConnectionFactory(connections);
        template.setEnableDefaultSerializer(false);
        template.setKeySerializer(BYTES);
        template.setValueSerializer(BYTES);
        template.afterPropertiesSet();
    }

    /**
     * Returns the executor for the driver.
     *
     * @param library to run as a function; {@code null} = always the script
     */
    public static TemplateScriptExecutor over(
            RedisConnectionFactory connections, RedisScript<List<Long>> script, @Nullable RateLimitLibrary library) {
        return isSharedLettuce(connections)
                ? new LettuceScriptExecutor(connections, script, library)
                : new BlockingScriptExecutor(connections, script, library);
    }

    /** Returns whether callers share one Lettuce connection. Lettuce may be absent. */
    private static boolean isSharedLettuce(RedisConnectionFactory connections) {
        return ClassUtils.isPresent("io.lettuce.core.RedisClient", TemplateScriptExecutor.class.getClassLoader())
                && connections instanceof LettuceConnectionFactory lettuce
                && lettuce.getShareNativeConnection();
    }

    RedisTemplate<byte[], byte[]> template() {
        return template;
    }

    RedisScript<List<Long>> script() {
        return script;
    }

    @Nullable
    RateLimitFunction function() {
        return function;
    }

    /** Loads the library into every server that does not have it, without blocking. */
    abstract CompletionStage<?> load(RateLimitLibrary library);

    /** Looks for functions again, because the server has lost its scripts and may be another one. */
    void serverHasRestarted() {
        if (function != null) {
            function.serverHasRestarted();
        }
    }

    @Override
    public RedisTopology topology() {
        return clustered ? RedisTopology.UNKNOWN_CLUSTER : RedisTopology.ONE_SERVER;
    }

    /** Connects, and loads the script and the function into the server, so that no call has to. Blocks. */
    void prepare() {
        byte[] text = script.getScriptAsString().getBytes(StandardCharsets.UTF_8);
        template.execute((RedisCallback<String>) connection -> {
            clustered = connection instanceof RedisClusterConnection;
            return connection.scriptingCommands().scriptLoad(text);
        });
        if (function != null) {
            BoundedWait.await(function.load(), LOAD);
        }
    }

    /** Returns what the server reports about its memory; on a cluster each name is prefixed with its node. Blocks. */
    Properties memory() {
        Properties memory = template.execute((RedisCallback<Properties>)
                connection -> connection.serverCommands().info("memory"));
        return memory == null ? new Properties() : memory;
    }
}

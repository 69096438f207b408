package io.ratelimit.redis.connection;

import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisFailureMapper;
import io.ratelimit.redis.RedisTopology;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.util.ClassUtils;

/** Runs the script through Spring Data's template. */
public abstract class TemplateScriptExecutor implements RateLimitScriptExecutor {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    static final RedisSerializer<byte[]> BYTES = RedisSerializer.byteArray();

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

    /**
     * Returns the executor for the driver.
     *
     * @param library to run as a function, if the driver can; {@code null} = always the script
     */
    public static TemplateScriptExecutor over(
            RedisConnectionFactory connections, RedisScript<List<Long>> script, @Nullable RateLimitLibrary library) {
        return isSharedLettuce(connections)
                ? new LettuceScriptExecutor(connections, script, library)
                : new BlockingScriptExecutor(connections, script);
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

    @Override
    public RedisTopology topology() {
        return clustered ? RedisTopology.UNKNOWN_CLUSTER : RedisTopology.ONE_SERVER;
    }

    /**
     * Connects, and loads the script into the server, so that no call has to. Blocks. A cluster is usable while one of its nodes is
     * down, but the driver loads the script into all of them, also into replicas and masters that were replaced: if that fails,
     * calls load it.
     */
    void prepare() {
        byte[] text = script.getScriptAsString().getBytes(StandardCharsets.UTF_8);
        template.execute((RedisCallback<String>) connection -> {
            clustered = connection instanceof RedisClusterConnection;
            try {
                return connection.scriptingCommands().scriptLoad(text);
            } catch (RuntimeException ex) {
                if (!clustered || !mayBeOfOneNode(ex)) {
                    throw ex;
                }
                logger.log(Level.DEBUG, "Cannot load the script into every node of the cluster; calls load it", ex);
                return "";
            }
        });
    }

    private static boolean mayBeOfOneNode(RuntimeException failure) {
        return switch (RedisFailureMapper.of(RedisTopology.REDIS, failure).getReason()) {
            case UNREACHABLE, TIMEOUT, LOADING -> true;
            default -> false;
        };
    }

    /** Returns what the server reports about its memory; on a cluster each name is prefixed with its node. Blocks. */
    Properties memory() {
        Properties memory = template.execute((RedisCallback<Properties>)
                connection -> connection.serverCommands().info("memory"));
        return memory == null ? new Properties() : memory;
    }
}

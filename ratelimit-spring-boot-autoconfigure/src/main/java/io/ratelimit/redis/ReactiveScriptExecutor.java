package io.ratelimit.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletionStage;
import org.springframework.data.redis.connection.ReactiveRedisClusterConnection;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.core.ReactiveRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializationContext;
import reactor.core.publisher.Mono;

/**
 * Runs the script through Spring Data's reactive template, which never blocks once there is a connection. Apart, because
 * Reactor is absent where Jedis is the only driver.
 */
final class ReactiveScriptExecutor implements ConnectingExecutor {

    /** For what is done in the background. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final RedisScript<List<Long>> script;

    private final ReactiveRedisTemplate<byte[], byte[]> template;

    private volatile boolean clustered;

    ReactiveScriptExecutor(ReactiveRedisConnectionFactory connections, RedisScript<List<Long>> script) {
        this.script = script;
        this.template = new ReactiveRedisTemplate<>(connections, RedisSerializationContext.byteArray());
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return template.execute(script, keys, Arrays.asList(arguments)).next().toFuture();
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return template.delete(key).toFuture();
    }

    @Override
    public boolean isClustered() {
        return clustered;
    }

    @Override
    public void prepare() {
        ByteBuffer text = ByteBuffer.wrap(script.getScriptAsString().getBytes(StandardCharsets.UTF_8));
        blocking(template.createMono(connection -> {
            clustered = connection instanceof ReactiveRedisClusterConnection;
            return connection.scriptingCommands().scriptLoad(text);
        }));
    }

    @Override
    public Properties memory() {
        return blocking(
                template.createMono(connection -> connection.serverCommands().info("memory")));
    }

    private static <T> T blocking(Mono<T> work) {
        return work.blockOptional(PATIENCE).orElseThrow();
    }
}

package io.ratelimit.redis;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.ReactiveRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializationContext;

/** Adds the face that does not block. Apart, because Reactor is absent where Jedis is the only driver. */
final class ReactiveScriptExecutor extends TemplateScriptExecutor {

    private final ReactiveRedisTemplate<byte[], byte[]> template;

    /** @param connections with both faces, blocking and reactive */
    ReactiveScriptExecutor(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        super(connections, script);
        this.template = new ReactiveRedisTemplate<>(
                (ReactiveRedisConnectionFactory) connections, RedisSerializationContext.byteArray());
    }

    @Override
    public CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments) {
        return template.execute(script(), keys, Arrays.asList(arguments)).next().toFuture();
    }

    /** The reactive face has a connection of its own. */
    @Override
    void prepare() {
        super.prepare();
        executeAsync(List.of(), new byte[][] {{'0'}}).toCompletableFuture().join();
    }
}

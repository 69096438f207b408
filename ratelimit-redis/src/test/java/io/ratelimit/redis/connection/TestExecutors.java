package io.ratelimit.redis.connection;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScriptExecutor;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.RedisScript;

/** Runs scripts over connections of a test. */
public final class TestExecutors {

    private TestExecutors() {}

    /**
     * Sends calls in their order, without a thread for each.
     *
     * @param connections of Lettuce, shared
     * @param library {@code null} = always the script
     */
    @SuppressWarnings("unchecked")
    public static RateLimitScriptExecutor lettuce(
            RedisConnectionFactory connections, RedisScript<List<Long>> script, @Nullable RateLimitLibrary library) {
        RedisClusterAsyncCommands<byte[], byte[]> commands = (RedisClusterAsyncCommands<byte[], byte[]>)
                connections.getConnection().getNativeConnection();
        return new LettuceScriptExecutor(connections, () -> commands, script, library);
    }
}

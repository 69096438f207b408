package io.ratelimit.redis;

import io.ratelimit.redis.connection.RateLimitScriptExecutor;
import io.ratelimit.redis.connection.RedisTopology;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Servers of a driver that is no longer there. */
final class ClosedServers implements RateLimitScriptExecutor, RedisTopology {

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        throw closed();
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        throw closed();
    }

    @Override
    public String of(byte[] key) {
        throw closed();
    }

    @Override
    public Map<String, String> tags() {
        throw closed();
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("LettuceConnectionFactory was destroyed and cannot be used anymore");
    }
}

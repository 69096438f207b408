package io.ratelimit.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Servers of a driver that is no longer there. */
public final class ClosedServers implements RateLimitScriptExecutor, RedisTopology {

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        throw closed();
    }

    @Override
    public RedisTopology topology() {
        return this;
    }

    @Override
    public String serverOf(int slot) {
        throw closed();
    }

    @Override
    public Map<String, String> hashTags() {
        throw closed();
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("LettuceConnectionFactory was destroyed and cannot be used anymore");
    }
}

package io.ratelimit.web;

import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.dao.QueryTimeoutException;

/** Runs scripts until it is told to fail. */
final class BreakableExecutor implements RateLimitScriptExecutor {

    private final RateLimitScriptExecutor redis;

    private volatile boolean broken;

    BreakableExecutor(RateLimitScriptExecutor redis) {
        this.redis = redis;
    }

    void fail() {
        broken = true;
    }

    boolean isBroken() {
        return broken;
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return broken ? CompletableFuture.failedFuture(failure()) : redis.execute(keys, arguments);
    }

    @Override
    public RedisTopology topology() {
        return redis.topology();
    }

    private static QueryTimeoutException failure() {
        return new QueryTimeoutException("Redis hangs");
    }
}

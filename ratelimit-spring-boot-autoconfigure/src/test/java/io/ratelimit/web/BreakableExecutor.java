package io.ratelimit.web;

import io.ratelimit.redis.RateLimitScriptExecutor;
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

    @Override
    public List<Long> execute(List<byte[]> keys, byte[][] arguments) {
        if (broken) {
            throw failure();
        }
        return redis.execute(keys, arguments);
    }

    @Override
    public CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments) {
        return broken ? CompletableFuture.failedFuture(failure()) : redis.executeAsync(keys, arguments);
    }

    @Override
    public boolean isClustered() {
        return redis.isClustered();
    }

    @Override
    public void delete(byte[] key) {
        if (broken) {
            throw failure();
        }
        redis.delete(key);
    }

    private static QueryTimeoutException failure() {
        return new QueryTimeoutException("Redis hangs");
    }
}

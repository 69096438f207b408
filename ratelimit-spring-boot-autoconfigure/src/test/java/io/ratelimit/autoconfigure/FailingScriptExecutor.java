package io.ratelimit.autoconfigure;

import io.ratelimit.redis.RateLimitScriptExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.dao.QueryTimeoutException;

/** Answers, though nothing that could be a decision, unless it fails. */
final class FailingScriptExecutor implements RateLimitScriptExecutor {

    private volatile boolean failing;

    void fail() {
        failing = true;
    }

    void recover() {
        failing = false;
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return answer(List.of());
    }

    private <T> CompletionStage<T> answer(T value) {
        return failing
                ? CompletableFuture.failedFuture(new QueryTimeoutException("Redis hangs"))
                : CompletableFuture.completedFuture(value);
    }
}

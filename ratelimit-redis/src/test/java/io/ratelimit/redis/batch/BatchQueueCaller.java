package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Asks for permits and waits for no other call. */
final class BatchQueueCaller {

    static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 1_000, "10/s");

    private final RateLimitStore store;

    /** Time stands still: an answer that took long by the machine's clock would have the queue send sooner. */
    BatchQueueCaller(RateLimitScriptExecutor scripts) {
        GuardedRedis redis = TestStores.closedLater(new GuardedRedis(
                scripts, Duration.ofHours(1), "test", true, DaemonThreads.createScheduler("ratelimit-probe"), () -> 0));
        this.store = new RedisRateLimitStore(redis, "test");
    }

    BatchQueueCaller(RateLimitScriptExecutor scripts, Duration timeout) {
        this.store = TestStores.over(scripts, timeout, "test");
    }

    RateLimitStore store() {
        return store;
    }

    CompletableFuture<RateLimitDecision> ask(long permits) {
        return ask("alice", permits);
    }

    CompletableFuture<RateLimitDecision> ask(String key, long permits) {
        return store.decide(StoreRequest.of(List.of(new Charge(QUOTES, key, permits))))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .thenApply(decisions -> decisions.get(0))
                .toCompletableFuture();
    }

    /** Why it has failed. */
    static Reason reasonOf(CompletableFuture<?> call) {
        CompletionException thrown = catchThrowableOfType(CompletionException.class, call::join);
        return ((RateLimitStoreException) thrown.getCause()).getReason();
    }
}

package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.redis.RateLimitScriptExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** {@code ratelimit.redis.remember-rejections}. */
class RememberRejectionsPropertyTests {

    private static final int CALLS = 5;

    private final ApplicationContextRunner application = LimitedContexts.inMemory()
            .withBean(RejectingExecutor.class)
            .withPropertyValues("ratelimit.store=redis", "ratelimit.limits.uploads.rate=1/d");

    @Test
    void whatRedisHasRejectedIsRejectedWithoutIt() {
        application.run(context -> assertThat(scriptsOfRejections(context)).isLessThan(CALLS));
    }

    @Test
    void switchedOffRedisIsAskedEachTime() {
        application
                .withPropertyValues("ratelimit.redis.remember-rejections=false")
                .run(context -> assertThat(scriptsOfRejections(context)).isEqualTo(CALLS));
    }

    private static int scriptsOfRejections(ApplicationContext context) {
        RejectingExecutor redis = context.getBean(RejectingExecutor.class);
        RateLimiter uploads = context.getBean(RateLimiterRegistry.class).get("uploads");
        int before = redis.scripts;
        IntStream.range(0, CALLS)
                .forEach(i -> assertThat(uploads.tryAcquire("alice").allowed()).isFalse());
        return redis.scripts - before;
    }

    /** Rejects everything, for an hour. */
    static final class RejectingExecutor implements RateLimitScriptExecutor {

        private int scripts;

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            scripts++;
            return CompletableFuture.completedFuture(List.of(0L, 0L, 3_600_000_000L, 3_600_000_000L));
        }
    }
}

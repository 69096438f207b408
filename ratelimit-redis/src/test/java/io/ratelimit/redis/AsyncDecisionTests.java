package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.store.contract.ChangedLimitContract;
import io.ratelimit.internal.store.contract.DecisionContracts;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.AsyncStore;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Decisions that do not block are the same decisions. */
@LongRunning
class AsyncDecisionTests extends DecisionContracts {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return new AsyncStore(redis.storeAt(time));
    }

    @Nested
    class ChangedLimit extends ChangedLimitContract {}

    @Test
    void manyAtOnceTakeExactlyTheCapacity() {
        RateLimitStore store = redis.storeAt(() -> 1);
        List<Charge> charge = List.of(new Charge(TestLimits.tokenBucket("burst", 100, "1/h"), "key", 1));
        List<CompletableFuture<List<RateLimitDecision>>> decisions = IntStream.range(0, 500)
                .mapToObj(i -> store.decide(StoreRequest.of(charge))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture())
                .toList();
        assertThat(decisions.stream().filter(decision -> decision.join().get(0).allowed()))
                .hasSize(100);
    }
}

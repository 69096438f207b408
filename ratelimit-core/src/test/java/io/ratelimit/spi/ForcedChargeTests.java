package io.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.Scope;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.scope.RoutingRateLimitStore;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Where a charge beyond the capacity goes. */
class ForcedChargeTests {

    private final TestClock clock = new TestClock();

    private final RateLimitStore local = new InMemoryRateLimitStore(clock, 100);

    private Reason failure = Reason.TIMEOUT;

    private final RateLimitStore away = new DelegatingRateLimitStore(new InMemoryRateLimitStore(clock, 100)) {

        @Override
        public CompletionStage<Void> charge(Charge charge) {
            return CompletableFuture.failedFuture(new RateLimitStoreException(failure, "no answer", null));
        }
    };

    private final FailoverRateLimitStore failover = new FailoverRateLimitStore(away, local);

    private CompletableFuture<Void> chargedBy(OnStoreFailure policy) {
        return failover.charge(new Charge(TestLimits.failingBy(policy, "away"), "alice", 5))
                .toCompletableFuture();
    }

    private long used(RateLimitStore store, RateLimit limit) {
        return limit.capacity()
                - store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining();
    }

    @Test
    void localBucketIsChargedWhileTheStoreIsAway() {
        RateLimit limit = TestLimits.failingBy(OnStoreFailure.LOCAL, "away");
        assertThat(chargedBy(OnStoreFailure.LOCAL)).isCompleted();
        assertThat(local.decide(StoreRequest.peek(new Charge(limit, "alice", 1)))
                        .await()
                        .decision()
                        .allowed())
                .isFalse();
        local.change(limit, "alice", BucketChange.RESET).toCompletableFuture().join();
        assertThat(chargedBy(OnStoreFailure.ALLOW)).isCompleted();
        assertThat(chargedBy(OnStoreFailure.REJECT)).isCompletedExceptionally();
        assertThat(chargedBy(OnStoreFailure.THROW)).isCompletedExceptionally();
        assertThat(used(local, limit)).isZero();
    }

    /** Such as a queue that is full: the store itself is well, so this is no outage. */
    @Test
    void chargeThatCannotBeSentGoesToTheLocalBucket() {
        failure = Reason.STALLED;
        RateLimit limit = TestLimits.failingBy(OnStoreFailure.LOCAL, "away");
        assertThat(chargedBy(OnStoreFailure.LOCAL)).isCompleted();
        assertThat(local.decide(StoreRequest.peek(new Charge(limit, "alice", 1)))
                        .await()
                        .decision()
                        .allowed())
                .isFalse();
        assertThat(failover.lastFailures()).isEmpty();
    }

    @Test
    void limitOfAnInstanceIsChargedInMemory() {
        RateLimit own = RateLimit.named("own").rate("5/h").scope(Scope.INSTANCE).build();
        RateLimitStore scoped = RoutingRateLimitStore.byScope(failover, local);
        assertThat(scoped.charge(new Charge(own, "alice", 3))).isCompleted();
        assertThat(used(local, own)).isEqualTo(3);
    }
}

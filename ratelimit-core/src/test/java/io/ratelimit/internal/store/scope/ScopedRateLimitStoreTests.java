package io.ratelimit.internal.store.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.Scope;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class ScopedRateLimitStoreTests {

    private final TestClock clock = new TestClock();

    private final RateLimitStore instance = new InMemoryRateLimitStore(clock, 100);

    private final FailingStore shared = new FailingStore(new InMemoryRateLimitStore(clock, 100));

    private final RateLimitStore store =
            RoutingRateLimitStore.byScope(new FailoverRateLimitStore(shared, instance), instance);

    private final Charge own = charge("own", Scope.INSTANCE, 2, false);

    private final Charge ownDryRun = charge("own-dry-run", Scope.INSTANCE, 2, true);

    private final Charge common = charge("common", Scope.SHARED, 3, false);

    private final Charge commonDryRun = charge("common-dry-run", Scope.SHARED, 3, true);

    @Test
    void limitOfTheInstanceNeedsNoSharedStore() throws Exception {
        shared.fails = true;
        assertThat(store.decide(own).await().decision().remaining()).isEqualTo(1);
        assertThat(store.decide(own).await().decision().remaining()).isZero();
        StoreOutcome rejected = decideAsync(StoreRequest.of(List.of(own, ownDryRun)));
        assertThat(rejected.isRejected()).isTrue();
        assertThat(store.decide(StoreRequest.peek(own)).await().decision().retryAfter())
                .isEqualTo(Duration.ofHours(1));
        BucketStatus status = store.change(own.limit(), own.key(), BucketChange.NONE)
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(status.remaining()).isZero();
        store.change(own.limit(), own.key(), BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(remaining(own)).isEqualTo(2);
        assertThat(shared.called).isFalse();
    }

    @Test
    void sharedLimitIsNotCountedByTheInstance() {
        store.decide(common).await();
        store.decide(StoreRequest.of(List.of(common, commonDryRun))).await();
        assertThat(instance.decide(StoreRequest.peek(common)).await().decision().remaining())
                .isEqualTo(3);
        assertThat(remaining(common)).isEqualTo(1);
        store.change(common.limit(), common.key(), BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(remaining(common)).isEqualTo(3);
    }

    @Test
    void sharedStoreThatFailsChargesNothing() {
        shared.fails = true;
        StoreRequest call = StoreRequest.of(List.of(own, ownDryRun, common));
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> store.decide(call).await());
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> decideAsync(call))
                .withCauseInstanceOf(RateLimitStoreException.class);
        assertThat(remaining(own)).isEqualTo(2);
        assertThat(remaining(ownDryRun)).isEqualTo(2);
    }

    @Test
    void sharedStoreThatFailsWhileItIsLookedAtChargesNothing() {
        store.decide(own).await();
        store.decide(own).await();
        shared.fails = true;
        StoreRequest call = StoreRequest.of(List.of(own, ownDryRun, common));
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> store.decide(call).await());
        assertThat(remaining(ownDryRun)).isEqualTo(2);
    }

    @Test
    void rejectionByTheInstanceChargesSharedLimitsInDryRunAlone() {
        store.decide(own).await();
        store.decide(own).await();
        store.decide(common).await();
        StoreOutcome outcome = store.decide(StoreRequest.of(List.of(commonDryRun, own, common, ownDryRun)))
                .await();
        assertThat(outcome.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, false, true, true);
        assertThat(outcome.decisions()).extracting(RateLimitDecision::remaining).containsExactly(2L, 0L, 2L, 1L);
        assertThat(remaining(common)).isEqualTo(2);
        assertThat(remaining(commonDryRun)).isEqualTo(2);
        assertThat(remaining(ownDryRun)).isEqualTo(1);
    }

    /** They would be held by a call that does not take place. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rejectionByTheInstanceTakesNoPermitsThatCallsHold(boolean failing) throws Exception {
        Charge held = new Charge(
                RateLimit.named("held")
                        .algorithm(Algorithm.CONCURRENCY)
                        .capacity(1)
                        .dryRun(true)
                        .build(),
                "alice",
                1);
        StoreRequest call = StoreRequest.refundable(List.of(own, held));
        store.decide(own).await();
        StoreOutcome running = store.decide(call).await();
        shared.fails = failing;
        for (StoreOutcome rejected : List.of(store.decide(call).await(), decideAsync(call))) {
            assertThat(rejected.decisions())
                    .extracting(RateLimitDecision::allowed)
                    .containsExactly(false, failing);
        }
        shared.fails = false;
        running.refund().refund(List.of(held)).toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(store.decide(call).await().decisions())
                .extracting(RateLimitDecision::allowed)
                .containsExactly(false, true);
        assertThat(remaining(held)).isEqualTo(1);
    }

    @Test
    void rejectionByBothTellsTheWaitOfEach() {
        store.decide(StoreRequest.of(List.of(own, common))).await();
        store.decide(StoreRequest.of(List.of(own, common))).await();
        store.decide(common).await();
        clock.advance(Duration.ofMinutes(15));
        Charge slow = new Charge(
                RateLimit.named("slow")
                        .rate("1/d")
                        .onStoreFailure(OnStoreFailure.THROW)
                        .build(),
                "alice",
                1);
        store.decide(slow).await();
        StoreOutcome outcome =
                store.decide(StoreRequest.of(List.of(own, common, slow))).await();
        assertThat(outcome.decisions())
                .extracting(RateLimitDecision::retryAfter)
                .containsExactly(Duration.ofMinutes(45), Duration.ofMinutes(45), Duration.ofDays(1));
    }

    @Test
    void rejectionBySharedLimitRefundsTheInstance() {
        for (int i = 0; i < 3; i++) {
            store.decide(common).await();
        }
        StoreOutcome outcome =
                store.decide(StoreRequest.of(List.of(own, common, ownDryRun))).await();
        assertThat(outcome.decisions()).extracting(RateLimitDecision::remaining).containsExactly(2L, 0L, 1L);
        assertThat(remaining(own)).isEqualTo(2);
        assertThat(remaining(ownDryRun)).isEqualTo(1);
    }

    @Test
    void onlyTheSharedStoreBlocks() {
        assertThat(store.isNonBlocking(own.limit())).isTrue();
        assertThat(store.isNonBlocking(common.limit())).isFalse();
    }

    /** Whatever is taken and put back in between, each limit has counted exactly the calls that were allowed. */
    @Test
    void threadsAreNeverAdmittedByOneLimitAlone() throws Exception {
        Charge few = new Charge(limit("few", Scope.INSTANCE, 60, false), "alice", 1);
        Charge fewer = new Charge(limit("fewer", Scope.SHARED, 50, false), "alice", 1);
        StoreRequest call = StoreRequest.of(List.of(few, fewer));
        long allowed = ParallelCalls.countAllowed(
                4, 200, thread -> () -> !store.decide(call).await().isRejected());
        assertThat(allowed).isEqualTo(50);
        assertThat(store.decide(StoreRequest.peek(few)).await().decision().remaining())
                .isEqualTo(10);
        assertThat(store.decide(StoreRequest.peek(fewer)).await().decision().remaining())
                .isZero();
    }

    private StoreOutcome decideAsync(StoreRequest request) throws Exception {
        return store.decide(request).toStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    private long remaining(Charge charge) {
        return store.decide(StoreRequest.peek(charge)).await().decision().remaining();
    }

    /** A call that waits for permits of the instance is decided several times. */
    @Test
    void refundReturnsWhatLimitInDryRunHasTakenOfRejectedCall() throws Exception {
        store.decide(own);
        store.decide(own);
        StoreOutcome rejected = decideAsync(StoreRequest.refundable(List.of(own, commonDryRun)));
        assertThat(rejected.isRejected()).isTrue();
        assertThat(rejected.isCharged(1)).isTrue();
        assertThat(remaining(commonDryRun)).isEqualTo(2);
        rejected.refund().refund(rejected.charges()).toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(remaining(commonDryRun)).isEqualTo(3);
    }

    private static Charge charge(String name, Scope scope, long capacity, boolean dryRun) {
        return new Charge(limit(name, scope, capacity, dryRun), "alice", 1);
    }

    private static RateLimit limit(String name, Scope scope, long capacity, boolean dryRun) {
        return RateLimit.named(name)
                .capacity(capacity)
                .rate("1/h")
                .scope(scope)
                .dryRun(dryRun)
                .onStoreFailure(OnStoreFailure.THROW)
                .build();
    }

    /** A store that blocks, as one that is far away, and can fail. */
    private static final class FailingStore extends DelegatingRateLimitStore {

        private volatile boolean fails;

        private volatile boolean called;

        FailingStore(RateLimitStore store) {
            super(store);
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            called();
            return super.decide(request);
        }

        @Override
        public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
            called();
            return super.change(limit, key, change);
        }

        @Override
        public CompletionStage<Void> check() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public boolean isNonBlocking(RateLimit limit) {
            return false;
        }

        private void called() {
            called = true;
            if (fails) {
                throw new RateLimitStoreException(Reason.ERROR, "down", null);
            }
        }
    }
}

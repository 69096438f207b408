package io.ratelimit.internal.store.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.memory.ExactLeaseStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestLimits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Once permits are back before their time, what was rejected before is the store's to decide. */
class RejectionCacheInvalidationTests {

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 10, "10/s");

    private static final Charge ONE = new Charge(QUOTES, "alice", 1);

    private static final RateLimitDecision REJECTED = RateLimitDecision.ofMicros(10, 0, 0, 100_000, 1_000_000);

    private static final RateLimitDecision ALLOWED = RateLimitDecision.ofMicros(10, 9, 0, 0, 100_000);

    private final StubStore store = new StubStore();

    private final RejectionCachingRateLimitStore remembering =
            new RejectionCachingRateLimitStore(store, () -> {}, new RejectionCache(() -> 0));

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void resetForgets(boolean fails) {
        store.answer(REJECTED);
        remembering.decide(ONE).await();
        if (fails) {
            RateLimitStoreException trouble = new RateLimitStoreException(Reason.TIMEOUT, "no answer", null);
            store.fail(trouble);
            assertThat(remembering.change(QUOTES, "alice", BucketChange.RESET)).isCompletedExceptionally();
        } else {
            remembering
                    .change(QUOTES, "alice", BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
        }
        store.answer(ALLOWED);
        assertThat(remembering.decide(ONE).await().decision()).isEqualTo(ALLOWED);
    }

    @Test
    void refundForgets() {
        Charge order = new Charge(TestLimits.tokenBucket("orders", 10, "10/s"), "alice", 1);
        store.answer(ALLOWED);
        Refund refund = remembering
                .decide(StoreRequest.refundable(List.of(order)))
                .toStage()
                .toCompletableFuture()
                .join()
                .refund();
        store.answer(REJECTED, REJECTED);
        remembering.decide(StoreRequest.of(List.of(ONE, order))).await();
        refund.refund(List.of(order)).toCompletableFuture().join();
        store.answer(ALLOWED, ALLOWED);
        assertThat(remembering
                        .decide(StoreRequest.of(List.of(ONE, order)))
                        .await()
                        .decisions())
                .containsExactly(ALLOWED, ALLOWED);
    }

    /** Also if it fails: it may have been refunded all the same. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void permitsOfALeaseThatAreRefundedForget(boolean fails) {
        Charge two = new Charge(QUOTES, "alice", 2);
        store.answer(ALLOWED);
        Lease lease = remembering
                .decide(StoreRequest.lease(ONE, 5))
                .toStage()
                .toCompletableFuture()
                .join()
                .lease();
        store.answer(REJECTED);
        remembering.decide(two).await();
        if (fails) {
            store.fail(new RateLimitStoreException(Reason.TIMEOUT, "no answer", null));
        }
        assertThat(lease.unused().refund(1).toCompletableFuture().isCompletedExceptionally())
                .isEqualTo(fails);
        store.answer(ALLOWED);
        assertThat(remembering.decide(two).await().decision()).isEqualTo(ALLOWED);
    }

    @Test
    void leaseOfAStoreThatCannotRefundItIsNotAvailable() {
        ExactLeaseStore leasing = new ExactLeaseStore(() -> 0);
        Lease lease = new RejectionCachingRateLimitStore(leasing, () -> {}, new RejectionCache(() -> 0))
                .decide(StoreRequest.lease(ONE, 5))
                .await()
                .lease();
        assertThat(lease.unused().isAvailable()).isTrue();
        leasing.unavailable(QUOTES);
        assertThat(lease.unused().isAvailable()).isFalse();
    }

    @Test
    void answerThatWasOnItsWayDuringAResetIsNotRemembered() {
        HeldStore held = new HeldStore(store);
        RejectionCachingRateLimitStore overHeld =
                new RejectionCachingRateLimitStore(held, () -> {}, new RejectionCache(() -> 0));
        store.answer(REJECTED);
        CompletableFuture<?> answer = overHeld.decide(StoreRequest.of(List.of(ONE)))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture();
        overHeld.change(QUOTES, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        held.answer();
        assertThat(answer).isCompleted();
        store.answer(ALLOWED);
        assertThat(overHeld.decide(ONE).await().decision()).isEqualTo(ALLOWED);
    }
}

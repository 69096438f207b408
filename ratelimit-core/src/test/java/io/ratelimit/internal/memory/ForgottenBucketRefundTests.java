package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was taken from a bucket that is forgotten since is not refunded to another of the same key. */
class ForgottenBucketRefundTests {

    private final RateLimitStore store = new InMemoryRateLimitStore(new TestClock(), 1);

    @ParameterizedTest
    @EnumSource
    void bucketThatMadeRoomForAnother(LimitKind kind) {
        RateLimit limit = kind.limit("six", 6, "3/6s");
        StoreOutcome taken = takeRefundably(limit);
        take(limit, "bob", 1);
        take(limit, "alice", 2);
        refund(limit, taken);
        assertThat(store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource
    void bucketThatWasReset(LimitKind kind) {
        RateLimit limit = kind.limit("six", 6, "3/6s");
        StoreOutcome taken = takeRefundably(limit);
        store.change(limit, "alice", BucketChange.RESET).toCompletableFuture().join();
        take(limit, "alice", 2);
        refund(limit, taken);
        assertThat(store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
    }

    private StoreOutcome takeRefundably(RateLimit limit) {
        return store.decide(StoreRequest.refundable(List.of(new Charge(limit, "alice", 3))))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    private void take(RateLimit limit, String key, long permits) {
        assertThat(store.decide(StoreRequest.of(List.of(new Charge(limit, key, permits))))
                        .await()
                        .decisions())
                .allMatch(RateLimitDecision::allowed);
    }

    private static void refund(RateLimit limit, StoreOutcome taken) {
        taken.refund()
                .refund(List.of(new Charge(limit, "alice", 3)))
                .toCompletableFuture()
                .join();
    }
}

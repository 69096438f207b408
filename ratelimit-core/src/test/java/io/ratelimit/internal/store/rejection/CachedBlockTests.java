package io.ratelimit.internal.store.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is remembered of a blocked key is what the store would say, until an operator changes the bucket, here or elsewhere. */
class CachedBlockTests {

    private final RateLimit limit =
            TestLimits.blocking(TestLimits.tokenBucket("blocking", 10, "10/s"), Duration.ofMinutes(1));

    private final TestClock clock = new TestClock();

    private final RateLimitStore store = new InMemoryRateLimitStore(clock, 100);

    private int asked;

    private final RateLimitStore caching = new RejectionCachingRateLimitStore(
            new DelegatingRateLimitStore(store) {
                @Override
                public StoreAnswer decide(StoreRequest request) {
                    asked += request.isPeek() ? 0 : 1;
                    return super.decide(request);
                }
            },
            () -> {},
            new RejectionCache(() -> clock.micros() * 1_000));

    private static Charge charge(RateLimit limit, long permits) {
        return new Charge(limit, "alice", permits);
    }

    private void block() {
        caching.decide(charge(limit, 10)).await();
        assertThat(caching.decide(charge(limit, 5)).await().decision().allowed())
                .isFalse();
    }

    @Test
    void callOfAnyNumberOfPermitsIsRejectedAsTheStoreWould() {
        block();
        clock.advance(Duration.ofMillis(900));
        int before = asked;
        for (long permits : new long[] {0, 1, 5, 10, 11}) {
            RateLimitDecision expected = store.decide(StoreRequest.peek(charge(limit, permits)))
                    .await()
                    .decision();
            assertThat(caching.decide(charge(limit, permits)).await().decision())
                    .isEqualTo(expected);
        }
        assertThat(asked).isEqualTo(before);
    }

    @Test
    void operatorsBlockOfALimitThatDoesNotBlockEndsAtTheSameTimeForLargerCalls() {
        RateLimit plain = TestLimits.tokenBucket("plain", 10, "10/s");
        caching.change(plain, "alice", BucketChange.block(Duration.ofMillis(800)));
        assertThat(caching.decide(charge(plain, 1)).await().decision().allowed())
                .isFalse();
        clock.advance(Duration.ofMillis(100));
        assertThat(caching.decide(charge(plain, 7)).await().decision())
                .isEqualTo(store.decide(StoreRequest.peek(charge(plain, 7)))
                        .await()
                        .decision());
    }

    @Test
    void rejectionByAnotherLimitOfTheCallHidesNoViolation() {
        RateLimit other = TestLimits.tokenBucket("other", 1, "1/s");
        StoreRequest call = StoreRequest.of(List.of(charge(other, 1), charge(limit, 1)));
        caching.decide(charge(other, 1)).await();
        assertThat(caching.decide(call).await().isRejected()).isTrue();
        caching.decide(charge(limit, 10)).await();
        assertThat(caching.decide(call).await().isRejected()).isTrue();
        clock.advance(Duration.ofSeconds(1));
        assertThat(caching.decide(charge(limit, 1)).await().decision().retryAfter())
                .isEqualTo(Duration.ofSeconds(59));
    }

    @Test
    void operatorsBlockDoesNotPutOffTheTimeAtWhichALargerCallFits() {
        RateLimit plain = TestLimits.tokenBucket("plain", 10, "10/s");
        caching.decide(charge(plain, 8)).await();
        caching.change(plain, "alice", BucketChange.block(Duration.ofMillis(300)));
        caching.decide(charge(plain, 1)).await();
        assertThat(caching.decide(charge(plain, 4)).await().decision().retryAfter())
                .isEqualTo(Duration.ofMillis(300));
    }

    @Test
    void callThatOnlyADryRunRejectsIsNotRemembered() {
        RateLimit trial = TestLimits.dryRun(TestLimits.tokenBucket("trial", 1, "1/s"));
        StoreRequest call = StoreRequest.of(List.of(charge(trial, 1), charge(limit, 0)));
        caching.decide(charge(trial, 1)).await();
        assertThat(caching.decide(call).await().isRejected()).isFalse();
        caching.change(limit, "alice", BucketChange.block(Duration.ofMinutes(1)));
        assertThat(caching.decide(call).await().isRejected()).isTrue();
    }

    @Test
    void unblockHereEndsIt() {
        block();
        clock.advance(Duration.ofMillis(900));
        caching.change(limit, "alice", BucketChange.NONE);
        assertThat(caching.decide(charge(limit, 1)).await().decision().allowed())
                .isFalse();
        caching.change(limit, "alice", BucketChange.UNBLOCK);
        assertThat(caching.decide(charge(limit, 1)).await().decision().allowed())
                .isTrue();
    }

    @Test
    void grantElsewhereIsSeenOnceItIsTold() {
        block();
        clock.advance(Duration.ofMillis(900));
        store.change(limit, "alice", BucketChange.UNBLOCK);
        assertThat(caching.decide(charge(limit, 1)).await().decision().allowed())
                .isFalse();
        caching.forget(limit.id(), KeyDigest.of("alice"));
        assertThat(caching.decide(charge(limit, 1)).await().decision().allowed())
                .isTrue();
    }
}

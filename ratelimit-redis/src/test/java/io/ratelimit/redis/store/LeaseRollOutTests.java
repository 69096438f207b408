package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One instance has a lease configured, the other has not yet, or no longer, and refunds what failed calls took. */
class LeaseRollOutTests {

    private static final long SECOND = 1_000_000;

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RedisRateLimitStore leasing = TestStores.over(redis.executorAt(clock), prefix);

    private final RedisRateLimitStore without = TestStores.over(redis.executorAt(clock), prefix);

    private final RateLimit limit =
            RateLimit.named("quotes").capacity(20).rate("1/s").build();

    private final RateLimit withLease =
            RateLimit.named("quotes").capacity(20).rate("1/s").lease(10).build();

    private StoreOutcome charge(long permits) {
        return without.decide(StoreRequest.refundable(List.of(new Charge(limit, "alice", permits))))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    private void refund(StoreOutcome decided, long permits) {
        decided.refund()
                .refund(List.of(new Charge(limit, "alice", permits)))
                .toCompletableFuture()
                .join();
    }

    private Lease lease(long permits, long more) {
        return leasing.decide(StoreRequest.lease(new Charge(withLease, "alice", permits), more))
                .toStage()
                .toCompletableFuture()
                .join()
                .lease();
    }

    private long used() {
        return limit.capacity()
                - without.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining();
    }

    private long admitted() {
        return IntStream.range(0, 20)
                .mapToObj(i ->
                        without.decide(new Charge(limit, "alice", 1)).await().decision())
                .filter(RateLimitDecision::allowed)
                .count();
    }

    @Test
    void refundDoesNotBringBackSoonerWhatWasLeasedSince() {
        StoreOutcome charged = charge(10);
        Lease lease = lease(1, 4);
        assertThat(lease.permits()).isEqualTo(4);
        refund(charged, 10);
        clock.advance(11 * SECOND);
        long stillLeased = 4;
        assertThat(admitted() + stillLeased).isLessThanOrEqualTo(limit.capacity());
    }

    /** What was leased before is used after it, and comes back after it by the rule: there it is back at 11 s. */
    @Test
    void refundBringsNothingBackThatWasChargedWhileOthersHadLeases() {
        lease(1, 9);
        StoreOutcome charged = charge(5);
        clock.advance(11 * SECOND);
        refund(charged, 5);
        assertThat(used()).isEqualTo(4);
    }

    @Test
    void refundBringsBackWhatWasChargedWhenAllLeasesWereOver() {
        charge(10);
        lease(1, 4);
        clock.advance(10 * SECOND);
        charge(10);
        clock.advance(5 * SECOND);
        StoreOutcome charged = charge(3);
        assertThat(used()).isEqualTo(13);
        refund(charged, 3);
        assertThat(used()).isEqualTo(10);
    }

    /** The mark is no part of what is used, and ends with it. */
    @Test
    void markEndsWhenTheBucketIsAsIfNeverUsed() {
        lease(1, 4);
        clock.advance(5 * SECOND);
        StoreOutcome charged = charge(3);
        refund(charged, 3);
        assertThat(used()).isZero();
    }

    @Test
    void leaseGoesBackFromBeforeWhatOthersHaveCharged() {
        Lease lease = lease(1, 4);
        charge(3);
        lease.unused().refund(4).toCompletableFuture().join();
        assertThat(used()).isEqualTo(4);
    }
}

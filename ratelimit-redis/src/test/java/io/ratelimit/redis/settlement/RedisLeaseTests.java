package io.ratelimit.redis.settlement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What Redis lets be taken in advance, and what of it can be refunded. */
class RedisLeaseTests {

    private static final long SECOND = 1_000_000;

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private final RedisRateLimitStore store = TestStores.over(redis.executorAt(clock), RedisUnderTest.newPrefix());

    private final RateLimit bucket =
            RateLimit.named("bucket").capacity(100).rate("1/s").lease(20).build();

    private StoreOutcome decide(RateLimit limit, long permits, long more) {
        return store.decide(StoreRequest.lease(new Charge(limit, "alice", permits), more))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    private Lease lease(RateLimit limit, long permits, long more) {
        return decide(limit, permits, more).lease();
    }

    private static void refund(Lease lease, long permits) {
        lease.unused().refund(permits).toCompletableFuture().join();
    }

    private long used(RateLimit limit) {
        return limit.capacity()
                - store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining();
    }

    @Test
    void halfOfWhatIsLeftIsTakenAtTheMost() {
        assertThat(decide(bucket, 1, 4))
                .extracting(
                        outcome -> outcome.lease().permits(),
                        outcome -> outcome.decision().remaining())
                .containsExactly(4L, 95L);
        assertThat(lease(bucket, 5, 100).permits()).isEqualTo(45);
        assertThat(decide(bucket, 46, 10).decision().allowed()).isFalse();
        assertThat(lease(bucket, 46, 10).permits()).isZero();
        assertThat(used(bucket)).isEqualTo(55);
    }

    @Test
    void bucketTakesBackOnlyWhatWasLeasedLast() {
        Lease one = lease(bucket, 1, 4);
        Lease other = lease(bucket, 1, 4);
        clock.advance(SECOND);
        refund(one, 4);
        assertThat(used(bucket)).as("the other was told 10 s").isEqualTo(9);
        refund(other, 3);
        assertThat(used(bucket)).isEqualTo(6);
        refund(other, 1);
        assertThat(used(bucket)).isEqualTo(5);
        assertThat(store.decide(StoreRequest.peek(new Charge(bucket, "alice", 0)))
                        .await()
                        .decision()
                        .resetAfter())
                .isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void whatWasChargedSinceStays() {
        Lease lease = lease(bucket, 1, 4);
        refund(lease, 3);
        store.decide(new Charge(bucket, "alice", 2)).await();
        refund(lease, 1);
        assertThat(used(bucket)).isEqualTo(3);
        assertThat(store.decide(StoreRequest.peek(new Charge(bucket, "alice", 0)))
                        .await()
                        .decision()
                        .resetAfter())
                .isEqualTo(Duration.ofSeconds(3));
    }

    /** In one run, in which it is the same moment for all. */
    @Test
    void ofTwoLeasesAtATimeOnlyTheLastIsRefunded() {
        Lease one = lease(bucket, 1, 4);
        Lease other = lease(bucket, 1, 4);
        refund(one, 4);
        assertThat(used(bucket)).isEqualTo(10);
        refund(other, 4);
        assertThat(used(bucket)).isEqualTo(6);
    }

    @Test
    void whatIsBackByItselfIsNotRefunded() {
        Lease lease = lease(bucket, 1, 4);
        clock.advance(3 * SECOND);
        refund(lease, 4);
        assertThat(used(bucket)).isZero();
        store.decide(new Charge(bucket, "alice", 10)).await();
        refund(lease, 1);
        assertThat(used(bucket)).isEqualTo(10);
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET_BY_INTERVALS", "FIXED_WINDOW", "SLIDING_WINDOW"})
    void windowsTakeBackWhateverIsUnused(LimitKind kind) {
        clock.set(TestClock.TODAY - TestClock.TODAY % (100 * SECOND));
        RateLimit window = kind.limit("window", 100, "100/100s");
        Lease one = lease(window, 1, 4);
        clock.advance(SECOND);
        Lease other = lease(window, 1, 10);
        refund(one, 4);
        assertThat(used(window)).isEqualTo(12);
        refund(other, 6);
        refund(other, 4);
        assertThat(used(window)).isEqualTo(2);
        clock.advance(98 * SECOND);
        assertThat(used(window)).isEqualTo(2);
    }
}

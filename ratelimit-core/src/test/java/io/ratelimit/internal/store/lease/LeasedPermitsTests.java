package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Lease;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The permits of one lease. */
class LeasedPermitsTests {

    private static final long SECOND = 1_000_000_000;

    private final LeasedPermits leased = leased(LeasingInstances.window("quotes", 100, 10));

    /** Of five permits, of a window that ends in a second. */
    static LeasedPermits leased(RateLimit limit) {
        RateLimitDecision decision = RateLimitDecision.ofMicros(limit.capacity(), 50, 0, 0, 1_000_000);
        return new LeasedPermits(
                limit, decision, new Lease(5, permits -> CompletableFuture.completedFuture(null)), 0, 0);
    }

    @Test
    void whatIsLeftOverIsRefundedOnce() {
        leased.take(2, 0);
        assertThat(leased.close(0, SECOND - 1_000).remainder().permits()).isEqualTo(3);
        assertThat(leased.close(0, SECOND - 1_000).remainder().permits()).isZero();
    }

    @Test
    void nothingIsLeftOverOnceItIsBackByItself() {
        assertThat(leased.close(0, SECOND).remainder().permits()).isZero();
    }

    @Test
    void refundIsNotHandedOutAnyLonger() {
        LeasedPermits.Portion portion = leased.takePortion(3, 0);
        assertThat(portion.restore(0)).isCompleted();
        assertThat(leased.handedOut()).isZero();
        assertThat(leased.take(6, 0)).isNegative();
        assertThat(leased.take(5, 0)).isNotNegative();
    }

    /** Five of a token bucket, the last of fifty permits that come back one a second; others use one of them. */
    private static void ofTokenBucket(long elapsed, int expected) {
        RateLimit limit =
                RateLimit.named("tokens").capacity(100).rate("1/s").lease(5).build();
        RateLimitDecision decision = RateLimitDecision.ofMicros(100, 50, 0, 0, 50_000_000);
        LeasedPermits leased = new LeasedPermits(
                limit, decision, new Lease(5, permits -> CompletableFuture.completedFuture(null)), 0, 0);
        LeasedPermits.Portion portion = leased.takePortion(2, 0);
        assertThat(leased.take(1, 0)).isNotNegative();
        portion.restore(elapsed);
        assertThat(leased.take(expected + 1, elapsed)).isNegative();
        assertThat(leased.take(expected, elapsed)).isNotNegative();
    }

    @Test
    void whatARejectedCallTookOfATokenBucketGoesBackAsFarAsItStillCounts() {
        ofTokenBucket(0, 4);
        ofTokenBucket(44 * SECOND, 4);
        ofTokenBucket(45 * SECOND + SECOND / 2, 3);
        ofTokenBucket(46 * SECOND + SECOND / 2, 2);
        ofTokenBucket(48 * SECOND + SECOND / 2, 1);
        ofTokenBucket(50 * SECOND, 0);
    }
}

package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.blocking;
import static io.ratelimit.testing.TestLimits.dryRun;
import static io.ratelimit.testing.TestLimits.tokenBucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A rejection blocks the key; an operator looks at buckets, grants, blocks and unblocks. */
public abstract class BlockingContract extends StoreContract {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static final Duration TEN = Duration.ofMinutes(10);

    private final RateLimit limit = blocking(tokenBucket("blocking", 2, "2/s"), MINUTE, TEN);

    private RateLimitDecision violate(RateLimit of) {
        take(of, of.capacity());
        return take(of, of.capacity());
    }

    private BucketStatus change(RateLimit of, BucketChange change) {
        return store.change(of, KEY, change).toCompletableFuture().join();
    }

    @ParameterizedTest
    @EnumSource
    void everyKindBlocksTheKeyUntilTheBlockEnds(LimitKind kind) {
        RateLimit any = blocking(kind.limit("blocking", 2, "2/10s"), MINUTE);
        while (take(any, 2).allowed()) {
            assertThat(remaining(any)).isZero();
        }
        RateLimitDecision blocked = take(any, 1);
        assertThat(blocked).isEqualTo(rejected(2, 0, MINUTE, MINUTE));
        clock.advance(59 * SECOND);
        // It neither consumes nor extends the block, and not even a free call is allowed.
        assertThat(take(any, 0)).isEqualTo(rejected(2, 0, Duration.ofSeconds(1), Duration.ofSeconds(1)));
        clock.advance(SECOND);
        assertThat(take(any, 2).allowed()).isTrue();
    }

    @Test
    void nextViolationWithinTheBlocksDurationBlocksForLonger() {
        assertThat(violate(limit).retryAfter()).isEqualTo(MINUTE);
        clock.advance(2 * 60 * SECOND - 1);
        assertThat(violate(limit).retryAfter()).isEqualTo(TEN);
        clock.advance(2 * 600 * SECOND - 1);
        assertThat(violate(limit).retryAfter()).isEqualTo(TEN);
        clock.advance(2 * 600 * SECOND);
        assertThat(violate(limit).retryAfter()).isEqualTo(MINUTE);
    }

    @Test
    void callThatCanNeverSucceedIsNoViolation() {
        assertThat(take(limit, 3).retryAfter()).isNull();
        assertThat(take(limit, 2).allowed()).isTrue();
        take(limit, 1);
        assertThat(take(limit, 3)).isEqualTo(rejected(2, 0, null, MINUTE));
    }

    @Test
    void peekTellsWhatACallWouldCauseAndBlocksNothing() {
        take(limit, 2);
        assertThat(peek(limit, 1).retryAfter()).isEqualTo(MINUTE);
        clock.advance(SECOND);
        assertThat(take(limit, 1).allowed()).isTrue();
    }

    @Test
    void dryRunBlocksNothing() {
        RateLimit trial = dryRun(limit);
        assertThat(violate(trial).retryAfter()).isEqualTo(Duration.ofSeconds(1));
        clock.advance(SECOND);
        assertThat(take(trial, 2).allowed()).isTrue();
    }

    @Test
    void onlyLimitsThatRejectBlock() {
        RateLimit wide = blocking(tokenBucket("wide", 5, "5/h"), MINUTE);
        takeOneOfEach(limit, wide);
        takeOneOfEach(limit, wide);
        assertThat(takeOneOfEach(limit, wide))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(false, true);
        assertThat(change(wide, BucketChange.NONE).isBlocked()).isFalse();
        assertThat(change(limit, BucketChange.NONE).blockedFor()).isEqualTo(MINUTE);
        // Not charged, and rejected by what is blocked, though the bucket is full again.
        clock.advance(SECOND);
        assertThat(takeOneOfEach(limit, wide).get(0).allowed()).isFalse();
        assertThat(remaining(wide)).isEqualTo(3);
    }

    @Test
    void refundReturnsPermitsAndTheKeyStaysBlocked() {
        Charge both = new Charge(limit, KEY, 2);
        Refund refund =
                store.decide(StoreRequest.refundable(List.of(both))).await().refund();
        take(limit, 1);
        refund.refund(List.of(both)).toCompletableFuture().join();
        assertThat(change(limit, BucketChange.NONE)).isEqualTo(new BucketStatus(2, 2, Duration.ZERO, MINUTE));
        clock.advance(MINUTE);
        assertThat(take(limit, 2).allowed()).isTrue();
    }

    @Test
    void resetAndUnblockEndTheBlockAndForgetViolations() {
        violate(limit);
        store.change(limit, KEY, BucketChange.RESET).toCompletableFuture().join();
        assertThat(violate(limit).retryAfter()).isEqualTo(MINUTE);
        assertThat(change(limit, BucketChange.UNBLOCK))
                .isEqualTo(new BucketStatus(2, 0, Duration.ofSeconds(1), Duration.ZERO));
        assertThat(take(limit, 1).retryAfter()).isEqualTo(MINUTE);
    }

    @Test
    void blockBelongsToTheKeyWhateverTheLimitIsNow() {
        violate(limit);
        RateLimit changed = tokenBucket("blocking", 10, "10/s");
        assertThat(take(changed, 1).retryAfter()).isEqualTo(MINUTE);
        clock.advance(MINUTE);
        assertThat(take(changed, 1).allowed()).isTrue();
    }

    @Test
    void operatorsBlockAppliesToEveryLimitAndIsNoViolation() {
        RateLimit plain = tokenBucket("plain", 2, "2/s");
        assertThat(change(plain, BucketChange.block(TEN))).isEqualTo(new BucketStatus(2, 2, Duration.ZERO, TEN));
        assertThat(take(plain, 1)).isEqualTo(rejected(2, 0, TEN, TEN));
        assertThat(store.decide(new Charge(plain, "bob", 1)).await().decision().allowed())
                .isTrue();
        clock.advance(TEN);
        assertThat(take(plain, 1).allowed()).isTrue();

        violate(limit);
        change(limit, BucketChange.block(TEN));
        clock.advance(TEN);
        assertThat(violate(limit).retryAfter()).isEqualTo(MINUTE);
    }

    @ParameterizedTest
    @EnumSource
    void grantReturnsPermitsUntilTheBucketIsFull(LimitKind kind) {
        RateLimit any = kind.limit("granting", 10, "10/d");
        take(any, 9);
        assertThat(change(any, BucketChange.grant(4)).remaining()).isEqualTo(5);
        assertThat(take(any, 5).allowed()).isTrue();
        assertThat(remaining(any)).isZero();
        assertThat(change(any, BucketChange.grant(1_000)))
                .isEqualTo(new BucketStatus(10, 10, Duration.ZERO, Duration.ZERO));
    }

    @Test
    void clockThatGoesBackBlocksNobodyForLonger() {
        violate(limit);
        clock.advance(-HOUR);
        assertThat(take(limit, 1).retryAfter()).isEqualTo(MINUTE);
        clock.advance(MINUTE);
        assertThat(take(limit, 1).allowed()).isTrue();
    }
}

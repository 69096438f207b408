package io.ratelimit.internal.store.contract;

import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestRandom;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is true of every limit, whatever its algorithm. */
public abstract class EveryAlgorithmContract extends StoreContract {

    private static final long CAPACITY = 20;

    private static RateLimit limit(LimitKind kind) {
        return kind.limit("every", CAPACITY, "10/s");
    }

    /** Takes one by one whatever can be had, and returns the first rejection. */
    private RateLimitDecision exhaust(RateLimit limit) {
        RateLimitDecision decision = take(limit, 1);
        while (decision.allowed()) {
            decision = take(limit, 1);
        }
        return decision;
    }

    @ParameterizedTest
    @EnumSource
    void startsFull(LimitKind kind) {
        assertThat(peek(limit(kind), CAPACITY)).isEqualTo(allowed(CAPACITY, CAPACITY, ZERO));
        assertThat(take(limit(kind), CAPACITY).delay()).isZero();
        assertThat(remaining(limit(kind))).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void moreThanTheCapacityNeverSucceeds(LimitKind kind) {
        assertThat(take(limit(kind), CAPACITY + 1)).isEqualTo(rejected(CAPACITY, CAPACITY, null, ZERO));
        assertThat(take(limit(kind), Long.MAX_VALUE)).isEqualTo(rejected(CAPACITY, CAPACITY, null, ZERO));
        take(limit(kind), 1);
        assertThat(take(limit(kind), CAPACITY + 1).retryAfter()).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void rejectionConsumesNothing(LimitKind kind) {
        RateLimitDecision rejected = exhaust(limit(kind));
        assertThat(take(limit(kind), CAPACITY).allowed()).isFalse();
        assertThat(take(limit(kind), CAPACITY + 1).allowed()).isFalse();
        assertThat(take(limit(kind), 1)).isEqualTo(rejected);
    }

    @ParameterizedTest
    @EnumSource
    void noPermitsAreFree(LimitKind kind) {
        RateLimitDecision rejected = exhaust(limit(kind));
        assertThat(take(limit(kind), 0)).isEqualTo(allowed(CAPACITY, 0, rejected.resetAfter()));
        assertThat(take(limit(kind), 1)).isEqualTo(rejected);
    }

    @ParameterizedTest
    @EnumSource
    void theCallSucceedsAtTheVeryMomentThatItsRejectionNamed(LimitKind kind) {
        RateLimitDecision rejected = exhaust(limit(kind));
        clock.advance(rejected.retryAfter());
        clock.advance(-1);
        assertThat(take(limit(kind), 1).retryAfter()).hasNanos(1_000);
        clock.advance(1);
        assertThat(take(limit(kind), 1).allowed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void isAsIfNeverUsedAtTheVeryMomentThatWasNamed(LimitKind kind) {
        clock.advance(exhaust(limit(kind)).resetAfter());
        clock.advance(-1);
        assertThat(peek(limit(kind), 0).resetAfter()).hasNanos(1_000);
        clock.advance(1);
        assertThat(peek(limit(kind), CAPACITY)).isEqualTo(allowed(CAPACITY, CAPACITY, ZERO));
    }

    @ParameterizedTest
    @EnumSource
    void peekTellsWhatTheCallWouldBeToldAndChangesNothing(LimitKind kind) {
        RateLimit limit = limit(kind);
        Random random = TestRandom.create(getClass());
        for (int call = 0; call < 300; call++) {
            clock.advance(random.nextLong(SECOND));
            long permits = random.nextLong(CAPACITY / 2);
            Charge charge = new Charge(limit, KEY, permits);
            // Under way at the same time, so that a store can decide them together, in their order.
            CompletionStage<RateLimitDecision> first =
                    store.decide(StoreRequest.peek(charge)).toStage().thenApply(StoreOutcome::decision);
            CompletionStage<RateLimitDecision> second =
                    store.decide(StoreRequest.peek(charge)).toStage().thenApply(StoreOutcome::decision);
            RateLimitDecision taken = take(limit, permits);
            RateLimitDecision peeked = first.toCompletableFuture().join();
            assertThat(second.toCompletableFuture().join()).isEqualTo(peeked);
            assertThat(peeked.allowed()).isEqualTo(taken.allowed());
            assertThat(peeked.delay()).isEqualTo(taken.delay());
            assertThat(peeked.retryAfter()).isEqualTo(taken.retryAfter());
        }
    }

    @ParameterizedTest
    @EnumSource
    void resetForgetsOneBucket(LimitKind kind) {
        RateLimit other = kind.limit("other", CAPACITY, "10/s");
        exhaust(limit(kind));
        exhaust(other);
        store.change(limit(kind), KEY, BucketChange.RESET).toCompletableFuture().join();
        assertThat(peek(limit(kind), CAPACITY)).isEqualTo(allowed(CAPACITY, CAPACITY, ZERO));
        assertThat(remaining(other)).isZero();
    }
}

package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Far more keys than there is room for. */
@LongRunning
class BucketEvictionTests {

    private static final int MAX_KEYS = 1_000;

    private static final int FLOOD = 50 * MAX_KEYS;

    private final TestClock clock = new TestClock();

    private final Random random = TestRandom.create(BucketEvictionTests.class);

    private int evictions;

    private final RateLimitStore store =
            new InMemoryRateLimitStore(clock, MAX_KEYS, () -> evictions++, random::nextInt);

    @ParameterizedTest
    @EnumSource(names = "CONCURRENCY", mode = EnumSource.Mode.EXCLUDE)
    void anExhaustedKeyThatIsSilentMeanwhileIsNotLetOff(Algorithm algorithm) {
        RateLimit limit = fiveAnHour(algorithm);
        assertThat(take(limit, "exhausted", 5).allowed()).isTrue();
        flood(limit);
        assertThat(take(limit, "exhausted", 1).allowed()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = "CONCURRENCY", mode = EnumSource.Mode.EXCLUDE)
    void newcomersAreServedAndCounted(Algorithm algorithm) {
        RateLimit limit = fiveAnHour(algorithm);
        flood(limit);
        int served = 0;
        for (int i = 0; i < FLOOD; i++) {
            assertThat(take(limit, "later" + i, 1).allowed()).isTrue();
            clock.advance(100);
            // With 1, it would have used no more than the others do, and might be the one to go.
            if (i % 100 == 0 && take(limit, "newcomer", 2).allowed()) {
                served++;
            }
        }
        assertThat(served).isEqualTo(2);
    }

    /** In a sliding window, buckets that used the same are full again at the same time, so that any of them may go. */
    @ParameterizedTest
    @EnumSource(
            names = {"SLIDING_WINDOW", "CONCURRENCY"},
            mode = EnumSource.Mode.EXCLUDE)
    void ofKeysThatUsedTheSameTheOldestGo(Algorithm algorithm) {
        RateLimit limit = fiveAnHour(algorithm);
        flood(limit);
        take(limit, "newcomer", 1);
        for (int i = 0; i < MAX_KEYS / 10; i++) {
            clock.advance(100);
            take(limit, "later" + i, 1);
        }
        assertThat(store.decide(StoreRequest.peek(new Charge(limit, "newcomer", 1)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
        assertThat(used(limit, "later", MAX_KEYS / 10)).isEqualTo(MAX_KEYS / 10);
    }

    @ParameterizedTest
    @EnumSource(names = "CONCURRENCY", mode = EnumSource.Mode.EXCLUDE)
    void ofAHouseHalfFullOfExhaustedKeysNextToNoneIsLetOff(Algorithm algorithm) {
        RateLimit limit = fiveAnHour(algorithm);
        for (int i = 0; i < MAX_KEYS / 2; i++) {
            take(limit, "exhausted" + i, 5);
        }
        flood(limit);
        // One in 2^16 newcomers sees no other bucket.
        assertThat(rejected(limit, "exhausted", MAX_KEYS / 2)).isGreaterThan(MAX_KEYS / 2 - 10);
    }

    @ParameterizedTest
    @EnumSource(names = "CONCURRENCY", mode = EnumSource.Mode.EXCLUDE)
    void whoHasRecoveredGoesFirst(Algorithm algorithm) {
        RateLimit limit = fiveAnHour(algorithm);
        for (int i = 0; i < MAX_KEYS / 2; i++) {
            take(limit, "recovered" + i, 5);
        }
        clock.advance(Duration.ofHours(2));
        for (int i = 0; i < MAX_KEYS / 2; i++) {
            take(limit, "used" + i, 1);
        }
        for (int i = 0; i < MAX_KEYS / 4; i++) {
            take(limit, "newcomer" + i, 5);
        }
        assertThat(used(limit, "used", MAX_KEYS / 2)).isGreaterThan(MAX_KEYS / 2 - 10);
        assertThat(rejected(limit, "newcomer", MAX_KEYS / 4)).isEqualTo(MAX_KEYS / 4);
    }

    @Test
    void callsThatTakeNothingNeedNoRoom() {
        RateLimit limit = fiveAnHour(Algorithm.TOKEN_BUCKET);
        for (int i = 0; i < MAX_KEYS; i++) {
            take(limit, "used" + i, 1);
        }
        for (int i = 0; i < FLOOD; i++) {
            store.decide(StoreRequest.peek(new Charge(limit, "peek" + i, 1)))
                    .await()
                    .decision();
            take(limit, "free" + i, 0);
            take(limit, "never" + i, 6);
            store.change(limit, "reset" + i, BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
        }
        assertThat(used(limit, "used", MAX_KEYS)).isEqualTo(MAX_KEYS);
    }

    @Test
    void callsThatAnotherLimitRejectsLeaveTheirRoom() {
        RateLimit limit = fiveAnHour(Algorithm.TOKEN_BUCKET);
        RateLimit other = TestLimits.fixedWindow("other", 1, "1/h");
        take(other, "exhausted", 1);
        for (int i = 0; i < MAX_KEYS - 2; i++) {
            take(limit, "used" + i, 1);
        }
        for (int i = 0; i < FLOOD; i++) {
            store.decide(StoreRequest.of(List.of(new Charge(limit, "flood" + i, 1), new Charge(other, "exhausted", 1))))
                    .await();
        }
        assertThat(used(limit, "used", MAX_KEYS)).isEqualTo(MAX_KEYS - 2);
    }

    @Test
    void aResetLeavesItsRoom() {
        RateLimit limit = fiveAnHour(Algorithm.TOKEN_BUCKET);
        for (int i = 0; i < MAX_KEYS - 1; i++) {
            take(limit, "used" + i, 1);
        }
        for (int i = 0; i < FLOOD; i++) {
            take(limit, "reset" + i, 1);
            store.change(limit, "reset" + i, BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
        }
        assertThat(used(limit, "used", MAX_KEYS)).isEqualTo(MAX_KEYS - 1);
    }

    @Test
    void aCallWithMoreLimitsThanThereIsRoomForIsDecided() {
        RateLimitStore small = new InMemoryRateLimitStore(clock, 1, () -> evictions++, random::nextInt);
        RateLimit limit = fiveAnHour(Algorithm.TOKEN_BUCKET);
        RateLimit other = TestLimits.fixedWindow("other", 1, "1/h");
        for (int i = 0; i < 10; i++) {
            assertThat(small.decide(StoreRequest.of(
                                    List.of(new Charge(limit, "key", 1), new Charge(other, "key" + i, 1))))
                            .await()
                            .decisions())
                    .hasSize(2);
        }
    }

    @Test
    void evictionCountsOnlyIfPermitsWereInUse() {
        InMemoryRateLimitStore two = new InMemoryRateLimitStore(clock, 2, () -> evictions++, random::nextInt);
        RateLimit limit = TestLimits.tokenBucket("quotes", 5, "1/s");
        two.decide(new Charge(limit, "a", 1));
        two.decide(new Charge(limit, "b", 2));
        assertThat(evictions).isZero();
        two.decide(new Charge(limit, "c", 3));
        assertThat(evictions).isEqualTo(1);
        clock.advance(5_000_000);
        two.decide(new Charge(limit, "d", 1));
        assertThat(evictions).isEqualTo(1);
        assertThat(two.size()).isEqualTo(2);
    }

    private long rejected(RateLimit limit, String prefix, int keys) {
        return IntStream.range(0, keys)
                .filter(i -> !store.decide(StoreRequest.peek(new Charge(limit, prefix + i, 1)))
                        .await()
                        .decision()
                        .allowed())
                .count();
    }

    private long used(RateLimit limit, String prefix, int keys) {
        return IntStream.range(0, keys)
                .filter(i -> store.decide(StoreRequest.peek(new Charge(limit, prefix + i, 1)))
                                .await()
                                .decision()
                                .remaining()
                        < 5)
                .count();
    }

    private void flood(RateLimit limit) {
        for (int i = 0; i < FLOOD; i++) {
            assertThat(take(limit, "flood" + i, 1).allowed()).isTrue();
            clock.advance(100);
        }
    }

    private RateLimitDecision take(RateLimit limit, String key, long permits) {
        return store.decide(new Charge(limit, key, permits)).await().decision();
    }

    private static RateLimit fiveAnHour(Algorithm algorithm) {
        return RateLimit.named("five")
                .algorithm(algorithm)
                .capacity(5)
                .rate("5/h")
                .build();
    }
}

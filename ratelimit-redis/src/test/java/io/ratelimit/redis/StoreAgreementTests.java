package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.RandomHistory;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Both stores answer alike whatever happens to limits and clocks, even where the rules leave room. */
@BothTiers
class StoreAgreementTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final int HISTORIES = TestRandom.cases(150);

    private static final int CALLS = 80;

    private final TestClock clock = new TestClock();

    private final RateLimitStore memory = new InMemoryRateLimitStore(clock, 1_000_000);

    private final RateLimitStore shared = redis.storeAt(clock);

    @Test
    void storesAgreeWhileNumbersAlgorithmsAndClocksChange() {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history = new RandomHistory(random, "agreed" + i, clock);
            for (int call = 0; call < CALLS; call++) {
                step(history);
            }
        }
    }

    @Test
    void storesAgreeWhileCalendarsZonesAndOtherRulesChange() {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history =
                    new RandomHistory(random, "calendar" + i, clock).blocking().withCalendars();
            for (int call = 0; call < CALLS; call++) {
                step(history);
                if (history.chance(6)) {
                    Charge charge = history.next().get(0);
                    BucketChange change = change(random);
                    history.note(change.toString());
                    change(charge, change, history);
                }
            }
        }
    }

    @Test
    void storesAgreeWhileChargesToCalendarWindowsAreRefunded() {
        refund("calendar-refunded", history -> history.withCalendars());
    }

    @Test
    void storesAgreeWhileKeysAreBlockedAndOperatorsChangeBuckets() {
        Random random = TestRandom.create(getClass());
        int blocked = 0;
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history = new RandomHistory(random, "blocked" + i, clock).blocking();
            for (int call = 0; call < CALLS; call++) {
                step(history);
                if (history.chance(4)) {
                    Charge charge = history.next().get(0);
                    BucketChange change = change(random);
                    history.note(change.toString());
                    blocked += change(charge, change, history).isBlocked() ? 1 : 0;
                }
            }
        }
        assertThat(blocked).isGreaterThan(HISTORIES);
    }

    private static BucketChange change(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> BucketChange.UNBLOCK;
            case 1 -> BucketChange.block(Duration.ofMinutes(1 + random.nextInt(60)));
            case 2, 3 -> BucketChange.grant(TestRandom.logarithmic(random, 1, 1_000_000));
            default -> BucketChange.NONE;
        };
    }

    /** However clocks are set, no key is blocked for longer than the longest block. */
    private BucketStatus change(Charge bucket, BucketChange change, RandomHistory history) {
        BucketStatus status = shared.change(bucket.limit(), bucket.key(), change)
                .toCompletableFuture()
                .join();
        assertThat(status)
                .as(history::toString)
                .isEqualTo(memory.change(bucket.limit(), bucket.key(), change)
                        .toCompletableFuture()
                        .join());
        assertThat(status.blockedFor()).as(history::toString).isLessThanOrEqualTo(Duration.ofHours(1));
        return status;
    }

    @Test
    void storesAgreeWhileChargesAreRefunded() {
        refund("refunded", history -> history);
    }

    private void refund(String name, UnaryOperator<RandomHistory> kind) {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < HISTORIES / 2; i++) {
            RandomHistory history = kind.apply(new RandomHistory(random, name + i, clock));
            List<RefundTwins> underWay = new ArrayList<>();
            for (int call = 0; call < CALLS; call++) {
                underWay.add(RefundTwins.take(history, shared, memory));
                while (!underWay.isEmpty() && history.chance(3)) {
                    // Mostly of late: what is long past is back by itself.
                    int number = Math.max(0, underWay.size() - 1 - random.nextInt(6));
                    underWay.get(number).refund(history, random);
                }
            }
        }
    }

    /** All is back before the receipt says so, because others were refunded: another call's permits are not its own. */
    @Test
    void storesAgreeOnABucketThatWasAsIfNeverUsedWhenACallOfSeveralLimitsCame() {
        Charge charge = new Charge(TestLimits.tokenBucket("unused", 6, "3/6s"), "key", 3);
        Charge changed = new Charge(TestLimits.tokenBucket("unused", 7, "3/6s"), "key", 0);
        Charge other = new Charge(TestLimits.tokenBucket("other", 1, "1/s"), "key", 1);
        List<RateLimitDecision> decisions = new ArrayList<>();
        for (RateLimitStore store : List.of(shared, memory)) {
            clock.set(TestClock.TODAY);
            Refund first = take(store, charge);
            Refund second = take(store, charge);
            first.refund(List.of(charge)).toCompletableFuture().join();
            clock.advance(Duration.ofSeconds(6));
            store.decide(StoreRequest.of(List.of(changed, other))).await();
            take(store, charge);
            second.refund(List.of(charge)).toCompletableFuture().join();
            decisions.add(store.decide(StoreRequest.peek(charge)).await().decision());
        }
        assertThat(decisions.get(0)).isEqualTo(decisions.get(1));
        assertThat(decisions.get(0).remaining()).isEqualTo(3);
    }

    /** What is back again stays until it is charged or expires: a clock that goes back finds it in both stores, or in neither. */
    @Test
    void storesAgreeOnARefilledBucketAfterANewPlanHasChargedNothingAndTheClockWentBack() {
        Charge used = new Charge(TestLimits.tokenBucket("refilled", 6, "6/6s"), "key", 6);
        Charge changed = new Charge(TestLimits.tokenBucket("refilled", 3, "6/6s"), "key", 1);
        Charge other = new Charge(TestLimits.tokenBucket("exhausted", 1, "1/d"), "key", 1);
        List<Long> remaining = new ArrayList<>();
        for (RateLimitStore store : List.of(shared, memory)) {
            clock.set(TestClock.TODAY);
            take(store, used);
            take(store, other);
            clock.advance(Duration.ofSeconds(7));
            assertThat(store.decide(StoreRequest.of(List.of(changed, other)))
                            .await()
                            .decisions())
                    .extracting(RateLimitDecision::allowed)
                    .containsExactly(true, false);
            clock.advance(Duration.ofSeconds(-7));
            remaining.add(remaining(store, used));
        }
        assertThat(remaining).containsOnly(0L);
    }

    /** The new plan has the other's count, and with it that charges of this very time cannot be refunded. */
    @Test
    void storesAgreeOnARefundInAPlanThatIsNewAfterACallThatAnotherCouldNotCount() {
        Charge slow = new Charge(TestLimits.tokenBucket("new", 6, "6/6s"), "key", 6);
        Charge fast = new Charge(TestLimits.tokenBucket("new", 2, "2/2ms"), "key", 1);
        Charge next = new Charge(TestLimits.tokenBucket("new", 8, "6/6s"), "key", 1);
        List<Long> remaining = new ArrayList<>();
        for (RateLimitStore store : List.of(shared, memory)) {
            clock.set(TestClock.TODAY);
            take(store, slow);
            assertThat(store.decide(fast).await().decision().allowed()).isFalse();
            clock.advance(Duration.ofMillis(2));
            take(store, fast);
            take(store, next).refund(List.of(next)).toCompletableFuture().join();
            remaining.add(remaining(store, next));
        }
        assertThat(remaining).containsOnly(1L);
    }

    /** Then all that was taken before is back. */
    @Test
    void storesAgreeOnARefundAfterAnOperatorHasEmptiedAPlanThatCouldNotCountACall() {
        Charge slow = new Charge(TestLimits.tokenBucket("granted", 6, "6/6s"), "key", 6);
        Charge larger = new Charge(TestLimits.tokenBucket("granted", 20, "6/6s"), "key", 8);
        List<Long> remaining = new ArrayList<>();
        for (RateLimitStore store : List.of(shared, memory)) {
            clock.set(TestClock.TODAY);
            Refund first = take(store, slow);
            take(store, larger);
            store.change(slow.limit(), "key", BucketChange.grant(6))
                    .toCompletableFuture()
                    .join();
            clock.advance(1);
            take(store, slow);
            first.refund(List.of(slow)).toCompletableFuture().join();
            remaining.add(remaining(store, slow));
        }
        assertThat(remaining).containsOnly(5L);
    }

    /** A call for more permits than the capacity is not told to try again when a block ends, so the clock is trusted again then. */
    @Test
    void storesAgreeOnABlockedCallThatCanNeverSucceedWhileTheClockIsBehind() {
        Charge charge = new Charge(TestLimits.tokenBucket("never", 1, "1/d"), "key", 1);
        Charge tooLarge = new Charge(charge.limit(), "key", 2);
        List<Duration> resetAfter = new ArrayList<>();
        for (RateLimitStore store : List.of(shared, memory)) {
            clock.set(TestClock.TODAY);
            take(store, charge);
            clock.advance(Duration.ofMinutes(-40));
            store.decide(tooLarge).await();
            store.change(charge.limit(), "key", BucketChange.block(Duration.ofMinutes(48)))
                    .toCompletableFuture()
                    .join();
            store.decide(tooLarge).await();
            clock.advance(Duration.ofMinutes(40 + 49));
            resetAfter.add(
                    store.decide(StoreRequest.peek(charge)).await().decision().resetAfter());
        }
        assertThat(resetAfter).containsOnly(Duration.ofDays(1).minusMinutes(49));
    }

    private static long remaining(RateLimitStore store, Charge charge) {
        return store.decide(StoreRequest.peek(charge)).await().decision().remaining();
    }

    /** A log sees what another rule admits, and hands on what it saw. */
    @Test
    void storesAgreeOnMorePermitsThanAnyLogHolds() {
        RateLimit logged = RateLimit.named("huge")
                .algorithm(Algorithm.SLIDING_WINDOW_LOG)
                .capacity(243)
                .rate("243/h")
                .build();
        Charge log = new Charge(logged, "key", 1);
        Charge bucket = new Charge(TestLimits.tokenBucket("huge", 52_750, "1/h"), "key", 13_299);
        Charge window = new Charge(TestLimits.fixedWindow("huge", 444_432, "444432/m"), "key", 0);
        for (Charge charge : List.of(log, bucket)) {
            assertThat(shared.decide(StoreRequest.of(List.of(charge))).await().decisions())
                    .isEqualTo(memory.decide(StoreRequest.of(List.of(charge)))
                            .await()
                            .decisions());
        }
        // A bucket is written at each call while its clock is behind: the log becomes the last used, and what it saw
        // counts.
        clock.advance(Duration.ofSeconds(-1));
        for (Charge charge : List.of(log, window)) {
            assertThat(shared.decide(StoreRequest.of(List.of(charge))).await().decisions())
                    .isEqualTo(memory.decide(StoreRequest.of(List.of(charge)))
                            .await()
                            .decisions());
        }
    }

    private static Refund take(RateLimitStore store, Charge charge) {
        return store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join()
                .refund();
    }

    private void step(RandomHistory history) {
        List<Charge> charges = history.next();
        assertThat(shared.decide(StoreRequest.of(charges)).await().decisions())
                .as(history::toString)
                .isEqualTo(memory.decide(StoreRequest.of(charges)).await().decisions());
        Charge first = charges.get(0);
        if (history.chance(8)) {
            assertThat(shared.decide(StoreRequest.peek(first)).await().decision())
                    .as(history::toString)
                    .isEqualTo(memory.decide(StoreRequest.peek(first)).await().decision());
        }
        if (history.chance(30)) {
            shared.change(first.limit(), first.key(), BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
            memory.change(first.limit(), first.key(), BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
        }
    }
}

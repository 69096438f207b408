package io.ratelimit.internal.store.rejection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RejectionCachingRateLimitStoreTests {

    private static final long MILLI = 1_000_000;

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 10, "10/s");

    private static final RateLimit ORDERS = TestLimits.tokenBucket("orders", 10, "10/s");

    private static final Charge ONE = new Charge(QUOTES, "alice", 1);

    /** Nothing left, 100 ms until there is a permit, a second until all are there. */
    private static final RateLimitDecision REJECTED = RateLimitDecision.ofMicros(10, 0, 0, 100_000, 1_000_000);

    private static final RateLimitDecision ALLOWED = RateLimitDecision.ofMicros(10, 9, 0, 0, 100_000);

    private final StubStore store = new StubStore();

    private long nanos = Long.MAX_VALUE - 50 * MILLI;

    private final RejectionCachingRateLimitStore remembering =
            new RejectionCachingRateLimitStore(store, () -> {}, new RejectionCache(() -> nanos));

    /** The ways to ask. */
    private enum Way {
        ONE,
        BLOCKING,
        ASYNC,
        REFUNDABLY;

        List<RateLimitDecision> ask(RateLimitStore store, Charge charge) {
            List<Charge> call = List.of(charge);
            return switch (this) {
                case ONE -> List.of(store.decide(charge).await().decision());
                case BLOCKING -> store.decide(StoreRequest.of(call)).await().decisions();
                case ASYNC ->
                    store.decide(StoreRequest.of(call))
                            .toStage()
                            .thenApply(StoreOutcome::decisions)
                            .toCompletableFuture()
                            .join();
                case REFUNDABLY ->
                    store.decide(StoreRequest.refundable(call))
                            .toStage()
                            .toCompletableFuture()
                            .join()
                            .decisions();
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void rejectsUntilTheMomentThatTheStoreNamed(Way way) {
        store.answer(REJECTED);
        assertThat(way.ask(remembering, ONE)).containsExactly(REJECTED);
        nanos += 100 * MILLI - 1;
        assertThat(way.ask(remembering, ONE)).containsExactly(RateLimitDecision.ofMicros(10, 0, 0, 1, 900_001));
        assertThat(store.asked()).hasSize(1);
        nanos += 1;
        store.answer(ALLOWED);
        assertThat(way.ask(remembering, ONE)).containsExactly(ALLOWED);
        assertThat(way.ask(remembering, ONE)).containsExactly(ALLOWED);
        assertThat(store.asked()).hasSize(3);
    }

    @Test
    void momentCountsFromBeforeTheStoreWasAsked() {
        RateLimitStore slow = new DelegatingRateLimitStore(store) {
            @Override
            public StoreAnswer decide(StoreRequest request) {
                nanos += 30 * MILLI;
                return super.decide(request);
            }
        };
        RejectionCachingRateLimitStore overSlow =
                new RejectionCachingRateLimitStore(slow, () -> {}, new RejectionCache(() -> nanos));
        store.answer(REJECTED);
        overSlow.decide(ONE).await();
        nanos += 70 * MILLI - 1;
        overSlow.decide(ONE).await();
        assertThat(store.asked()).hasSize(1);
        nanos += 1;
        overSlow.decide(ONE).await();
        assertThat(store.asked()).hasSize(2);
    }

    @Test
    void storeIsAskedAgainAfterASecond() {
        store.answer(RateLimitDecision.ofMicros(10, 0, 0, 5_000_000, 6_000_000));
        remembering.decide(ONE).await();
        nanos += 1_000 * MILLI - 1;
        assertThat(remembering.decide(ONE).await().decision().retryAfter()).isEqualTo(Duration.ofNanos(4_000_001_000L));
        assertThat(store.asked()).hasSize(1);
        nanos += 1;
        remembering.decide(ONE).await();
        assertThat(store.asked()).hasSize(2);
    }

    @Test
    void largerCostIsTheStoresToDecide() {
        store.answer(RateLimitDecision.ofMicros(10, 2, 0, 100_000, 800_000));
        remembering.decide(new Charge(QUOTES, "alice", 3)).await();
        store.answer(RateLimitDecision.ofMicros(10, 2, 0, 300_000, 800_000));
        assertThat(remembering
                        .decide(new Charge(QUOTES, "alice", 5))
                        .await()
                        .decision()
                        .retryAfter())
                .isEqualTo(Duration.ofMillis(300));
        assertThat(store.asked()).hasSize(2);
    }

    @Test
    void smallerCostIsTheStoresToDecide() {
        store.answer(RateLimitDecision.ofMicros(10, 2, 0, 100_000, 800_000));
        remembering.decide(new Charge(QUOTES, "alice", 3)).await();
        store.answer(ALLOWED);
        assertThat(remembering.decide(new Charge(QUOTES, "alice", 2)).await().decision())
                .isEqualTo(ALLOWED);
        assertThat(remembering
                        .decide(new Charge(QUOTES, "alice", 3))
                        .await()
                        .decision()
                        .allowed())
                .as("the larger one is known still")
                .isFalse();
    }

    @Test
    void whatCanNeverSucceedIsRememberedToo() {
        RateLimitDecision never = RateLimitDecision.ofMicros(10, 10, 0, -1, 0);
        store.answer(never);
        remembering.decide(new Charge(QUOTES, "alice", 11)).await();
        assertThat(remembering.decide(new Charge(QUOTES, "alice", 11)).await().decision())
                .isEqualTo(never);
        assertThat(store.asked()).hasSize(1);
    }

    @Test
    void othersAreTheStoresToDecide() {
        store.answer(REJECTED);
        remembering.decide(ONE).await();
        store.answer(ALLOWED);
        assertThat(remembering.decide(new Charge(QUOTES, "bob", 1)).await().decision())
                .isEqualTo(ALLOWED);
        assertThat(remembering.decide(new Charge(QUOTES, null, 1)).await().decision())
                .isEqualTo(ALLOWED);
        assertThat(remembering.decide(new Charge(ORDERS, "alice", 1)).await().decision())
                .isEqualTo(ALLOWED);
        RateLimit changed = TestLimits.tokenBucket("quotes", 10, "10/s");
        assertThat(remembering.decide(new Charge(changed, "alice", 1)).await().decision())
                .isEqualTo(ALLOWED);
    }

    @Test
    void limitsOfACallAreRememberedTogether() {
        store.answer(REJECTED, ALLOWED);
        Charge order = new Charge(ORDERS, "alice", 1);
        remembering.decide(StoreRequest.of(List.of(ONE, order))).await();
        nanos += 40 * MILLI;
        assertThat(remembering
                        .decide(StoreRequest.of(List.of(ONE, order)))
                        .await()
                        .decisions())
                .containsExactly(
                        RateLimitDecision.ofMicros(10, 0, 0, 60_000, 960_000),
                        RateLimitDecision.ofMicros(10, 9, 0, 0, 60_000));
        assertThat(store.asked()).hasSize(1);
        remembering
                .decide(StoreRequest.of(List.of(ONE, new Charge(ORDERS, "alice", 2))))
                .await();
        assertThat(store.asked())
                .as("another cost, where it is not what rejects")
                .hasSize(2);
        remembering.decide(StoreRequest.of(List.of(ONE))).await();
        assertThat(store.asked()).as("another call").hasSize(3);
    }

    @Test
    void firstLimitThatCouldDecideOtherwiseEndsIt() {
        store.answer(REJECTED, RateLimitDecision.ofMicros(10, 0, 0, 50_000, 950_000));
        List<Charge> call = List.of(ONE, new Charge(ORDERS, "alice", 1));
        remembering.decide(StoreRequest.of(call)).await();
        nanos += 50 * MILLI;
        remembering.decide(StoreRequest.of(call)).await();
        assertThat(store.asked()).hasSize(2);
    }

    @Test
    void callThatTakesSomethingForALimitInDryRunIsNotRemembered() {
        Charge counted = new Charge(TestLimits.dryRun(ORDERS), "alice", 1);
        store.answer(REJECTED, ALLOWED);
        remembering.decide(StoreRequest.of(List.of(ONE, counted))).await();
        remembering.decide(StoreRequest.of(List.of(ONE, counted))).await();
        assertThat(store.asked()).hasSize(2);
        store.answer(ALLOWED, REJECTED);
        remembering.decide(StoreRequest.of(List.of(ONE, counted))).await();
        remembering.decide(StoreRequest.of(List.of(ONE, counted))).await();
        assertThat(store.asked()).hasSize(4);
        store.answer(REJECTED);
        remembering.decide(counted).await();
        remembering.decide(counted).await();
        assertThat(store.asked()).as("took nothing").hasSize(5);
    }

    @Test
    void longKeysAreNotKept() {
        Charge longest = new Charge(QUOTES, "k".repeat(KeyDigest.LONGEST_KEY), 1);
        Charge longer = new Charge(QUOTES, "k".repeat(KeyDigest.LONGEST_KEY + 1), 1);
        store.answer(REJECTED);
        remembering.decide(longest).await();
        remembering.decide(longest).await();
        assertThat(store.asked()).hasSize(1);
        remembering.decide(longer).await();
        remembering.decide(longer).await();
        assertThat(store.asked()).hasSize(3);
    }

    @Test
    void storeThatFailsIsAskedAgain() {
        store.fail(new RateLimitStoreException(Reason.TIMEOUT, "no answer", null));
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> remembering.decide(ONE).await().decision());
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> remembering.decide(ONE).await().decision());
        assertThat(store.asked()).hasSize(2);
    }
}

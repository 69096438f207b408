package io.ratelimit.internal.store.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestSettings;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Instances of one application while the store fails that they share. */
class LocalShareStoreTests {

    private static final RateLimit LIMIT = limit("limit", "20/h");

    private static final RateLimit OTHER = limit("other", "6/h");

    private final StubStore shared = new StubStore();

    private int counted;

    private final TestClock clock = new TestClock();

    private final RateLimitStore one = instance();

    private final RateLimitStore another = instance();

    @BeforeEach
    void fail() {
        shared.fail(new RateLimitStoreException(Reason.TIMEOUT, "no answer", null));
    }

    @Test
    void togetherTheyAdmitTheCapacityAndNoMore() {
        assertThat(admitted(one, 1) + admitted(another, 1)).isEqualTo(20);
    }

    @Test
    void shareFollowsTheNumberOfInstancesAndKeepsWhatWasTaken() {
        one.decide(StoreRequest.of(charges(3, LIMIT))).await();
        counted = 4;
        assertThat(admitted(one, 1)).isEqualTo(2);
        counted = 1;
        assertThat(LIMIT.local(counted))
                .isSameAs(LIMIT.local(counted))
                .hasToString("TOKEN_BUCKET, capacity 10 at 1/6m");
        assertThat(admitted(one, 1)).isEqualTo(5);
    }

    @Test
    void numberByWhichALimitCannotBeDividedExactlyLeavesTheConfiguredShare() {
        RateLimit rare = limit("rare", "1/d");
        assertThat(rare.local(100_000)).hasToString(rare.local(0).toString());
    }

    @Test
    void callThatCostsMoreThanTheShareIsRejected() {
        RateLimitDecision decision =
                one.decide(StoreRequest.of(charges(11, LIMIT))).await().decision();
        assertThat(decision.allowed()).isFalse();
        assertThat(decision.retryAfter()).isNull();
        assertThat(decision.capacity()).isEqualTo(10);
    }

    @Test
    void callThatCostsMoreThanTheShareIsNotToldThatItCanNeverSucceed() {
        RateLimitGate gate = new RateLimitGate(one, (charge, decision, outcome) -> {}, Waiter.parking());
        LogRecorder recorder = LogRecorder.ofThisThread("io.ratelimit.capacity");
        try {
            gate.decide(charges(11, LIMIT));
            assertThat(recorder.lines()).isEmpty();
            gate.decide(charges(21, LIMIT));
            assertThat(recorder.lines()).singleElement().asString().contains("its capacity is 20");
        } finally {
            recorder.close();
        }
    }

    @Test
    void everyWayToAskFindsTheSameBucket() {
        assertThat(one.decide(StoreRequest.of(charges(3, LIMIT)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(7);
        assertThat(one.decide(StoreRequest.of(charges(3, LIMIT)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join())
                .extracting(RateLimitDecision::remaining)
                .containsExactly(4L);
        assertThat(one.decide(StoreRequest.peek(new Charge(LIMIT, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
        assertThat(remaining(one.decide(StoreRequest.refundable(charges(1, LIMIT, OTHER)))
                        .toStage()
                        .toCompletableFuture()
                        .join()
                        .decisions()))
                .containsExactly(3L, 2L);
    }

    @Test
    void storeOfAShareIsAskedInEveryWay() {
        RateLimitStore local = new LocalShareStore(new InMemoryRateLimitStore(clock, 100), () -> counted);
        assertThat(local.isNonBlocking(LIMIT)).isTrue();
        assertThat(remaining(
                        local.decide(StoreRequest.of(charges(1, LIMIT))).await().decisions()))
                .containsExactly(9L);
        assertThat(remaining(local.decide(StoreRequest.of(charges(1, LIMIT)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join()))
                .containsExactly(8L);
    }

    @Test
    void resetForgetsTheShare() {
        one.decide(StoreRequest.of(charges(10, LIMIT))).await();
        shared.answer();
        assertThat(one.change(LIMIT, "key", BucketChange.RESET)).isCompleted();
        fail();
        assertThat(one.decide(StoreRequest.peek(new Charge(LIMIT, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10);
    }

    @Test
    void whatWasTakenIsRefundedHoweverManyInstancesAreCountedMeanwhile() {
        List<Charge> charges = charges(3, LIMIT);
        StoreOutcome decided = one.decide(StoreRequest.refundable(charges)).await();
        counted = 4;
        decided.refund().refund(charges).toCompletableFuture().join();
        counted = 0;
        assertThat(one.decide(StoreRequest.peek(new Charge(LIMIT, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10);
    }

    /** Another call has made the share of another number meanwhile. */
    @Test
    void permitsThatACallHoldsAreReleasedHoweverManyInstancesAreCountedMeanwhile() {
        RateLimit held =
                limit(RateLimit.named("held").algorithm(Algorithm.CONCURRENCY).capacity(8));
        List<Charge> charges = charges(1, held);
        StoreOutcome earlier = one.decide(StoreRequest.refundable(charges)).await();
        counted = 4;
        StoreOutcome later = one.decide(StoreRequest.refundable(charges)).await();
        earlier.refund().refund(charges).toCompletableFuture().join();
        later.refund().refund(charges).toCompletableFuture().join();
        assertThat(one.decide(StoreRequest.peek(new Charge(held, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2);
    }

    @Test
    void whatWasTakenIsRefundedToTheShare() {
        List<Charge> charges = charges(2, LIMIT, OTHER);
        StoreOutcome decided = one.decide(StoreRequest.refundable(charges))
                .toStage()
                .toCompletableFuture()
                .join();
        CompletableFuture<Void> refunded =
                decided.refund().refund(charges.subList(0, 1)).toCompletableFuture();
        assertThat(refunded).isCompleted();
        assertThat(one.decide(StoreRequest.peek(new Charge(LIMIT, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10);
        assertThat(one.decide(StoreRequest.peek(new Charge(OTHER, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(1);
    }

    /** It has charged nothing, so there is nothing of it to refund. */
    @Test
    void permitsAreReleasedBesideThoseOfALimitThatAllowsAllWhileTheStoreFails() {
        RateLimit held =
                limit(RateLimit.named("held").algorithm(Algorithm.CONCURRENCY).capacity(8));
        RateLimit allowing = limit(RateLimit.named("allowing")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(8)
                .onStoreFailure(OnStoreFailure.ALLOW));
        List<Charge> charges = charges(1, held, allowing);
        StoreOutcome decided = one.decide(StoreRequest.refundable(charges)).await();
        assertThat(decided.refund().refund(charges)).isCompleted();
        assertThat(one.decide(StoreRequest.peek(new Charge(held, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
    }

    @Test
    void limitsOfACallAreStillDecidedTogether() {
        assertThat(one.decide(StoreRequest.of(charges(4, LIMIT, OTHER))).await().decisions())
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, false);
        assertThat(one.decide(StoreRequest.peek(new Charge(LIMIT, "key", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10);
    }

    private static long admitted(RateLimitStore instance, long permits) {
        return Stream.generate(() -> instance.decide(StoreRequest.of(charges(permits, LIMIT)))
                        .await()
                        .decision())
                .limit(25)
                .filter(RateLimitDecision::allowed)
                .count();
    }

    private static List<Long> remaining(List<RateLimitDecision> decisions) {
        return decisions.stream().map(RateLimitDecision::remaining).toList();
    }

    private static List<Charge> charges(long permits, RateLimit... limits) {
        return Stream.of(limits).map(limit -> new Charge(limit, "key", permits)).toList();
    }

    private RateLimitStore instance() {
        return new FailoverRateLimitStore(
                shared, new LocalShareStore(new InMemoryRateLimitStore(clock, 100), () -> counted));
    }

    private static RateLimit limit(String name, String rate) {
        return limit(RateLimit.named(name).rate(rate));
    }

    private static RateLimit limit(RateLimitBuilder builder) {
        return TestSettings.of(false, OnStoreFailure.LOCAL, new LocalShare(2), Map.of())
                .apply(builder);
    }
}

package io.ratelimit.internal.limiter;

import static io.ratelimit.internal.limiter.WaitingCalls.assertFails;
import static io.ratelimit.internal.limiter.WaitingCalls.entered;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A limit changes while calls wait for its permits: they go on by the new numbers, or end. */
@Timeout(180)
class LimitChangeDuringWaitTests {

    private final Store store = new Store();

    private final RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, new Timers());

    private final RateLimit limit = limit(2);

    private final LimitCatalog catalog = new LimitCatalog(RateLimitSettings.NONE, null, () -> false);

    private final Map<String, EffectiveLimit> limits = new HashMap<>();

    private void change(RateLimit previous, RateLimit next) {
        limits.computeIfAbsent(previous.id(), id -> {
                    EffectiveLimit changing = new EffectiveLimit(previous);
                    gate.follow(changing, catalog);
                    return changing;
                })
                .reconfigure(next);
    }

    private static RateLimit limit(long capacity) {
        return WaitingCalls.limit("exports", capacity);
    }

    private CompletableFuture<Settlement> enter(Charge... charges) {
        return WaitingCalls.enter(gate, charges);
    }

    private CompletableFuture<Settlement> enter(long permits) {
        return enter(new Charge(limit, "alice", permits));
    }

    private long free() {
        return WaitingCalls.free(store, limit);
    }

    private List<CompletableFuture<Settlement>> crowd(int number) {
        return Stream.generate(() -> enter(1)).limit(number).toList();
    }

    /** As when another listener of the limit has failed. */
    @Test
    void changeThatIsToldAgainChangesNothing() throws Exception {
        Settlement both = entered(enter(2));
        change(limit, limit);
        int before = store.decided.get();
        CompletableFuture<Settlement> first = enter(1);
        CompletableFuture<Settlement> second = enter(1);
        assertThat(store.decided).hasValue(before + 1);
        both.release();
        entered(first);
        entered(second);
    }

    @Test
    void largerCapacityAppliesToCallsThatWait() throws Exception {
        var unused = entered(enter(2));
        List<CompletableFuture<Settlement>> calls = crowd(3);
        change(limit, limit(4));
        entered(calls.get(0));
        entered(calls.get(1));
        assertThat(calls.get(2)).isNotDone();
    }

    @Test
    void largerCapacityAppliesToCallsThatHaveReadTheLimitBefore() throws Exception {
        LimitConfiguration plans = LimitConfiguration.of("exports")
                .with(Map.of("small", RateLimitPlan.named("small").capacity(2)));
        RateLimit withPlan = limit.definition()
                .configure(limit.definition().values(), plans, AttributeValues.NONE, (same, counted) -> same)
                .build();
        var unused = entered(enter(2));
        RateLimit between = limit(3);
        change(withPlan, between);
        change(between, withPlan);
        CompletableFuture<Settlement> call = enter(new Charge(withPlan, "alice", 1));
        assertThat(call).isNotDone();
        RateLimit larger = limit(4);
        change(withPlan, larger);
        entered(call);
        entered(enter(new Charge(requireNonNull(withPlan.plans().get("small")), "alice", 1)));
        assertThat(enter(new Charge(withPlan, "alice", 1))).isNotDone();
    }

    @Test
    void smallerCapacityAppliesToCallsThatWait() throws Exception {
        Settlement one = entered(enter(1));
        Settlement other = entered(enter(1));
        CompletableFuture<Settlement> call = enter(1);
        CompletableFuture<Settlement> large = enter(2);
        change(limit, limit(1));
        one.release();
        assertThat(call).isNotDone();
        other.release();
        Settlement next = entered(call);
        // It can never succeed now.
        assertFails(large);
        next.release();
        assertThat(free()).isEqualTo(2);
    }

    @Test
    void callsThatWaitForADisabledLimitGoOnAndHoldNothing() throws Exception {
        Settlement both = entered(enter(2));
        List<CompletableFuture<Settlement>> calls = crowd(3);
        change(limit, disabled(limit));
        for (CompletableFuture<Settlement> call : calls) {
            entered(call).release();
        }
        assertThat(free()).isZero();
        both.release();
        assertThat(free()).isEqualTo(2);
    }

    @Test
    void plansChangeWithTheirLimitAndOtherLimitsDoNot() throws Exception {
        RateLimit other = TestLimits.concurrency("others", 2);
        RateLimit gold = limit.definition().with(RateLimitPlan.named("gold").capacity(2));
        var unused = entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(gold, "alice", 1));
        change(other, limit(4));
        change(limit, limit(4));
        // The application has made these numbers for the call.
        assertThat(call).isNotDone();
        change(limit(4), disabled(limit(4)));
        entered(call).release();
        assertThat(free()).isZero();
    }

    @Test
    void callOfAPlanThatIsRemovedWaitsByTheNumbersOfTheLimit() throws Exception {
        LimitConfiguration plans = LimitConfiguration.of("exports")
                .with(Map.of("small", RateLimitPlan.named("small").capacity(2)));
        RateLimit withPlan = limit(5).definition()
                .configure(limit(5).definition().values(), plans, AttributeValues.NONE, (same, counted) -> same)
                .build();
        RateLimit small = requireNonNull(withPlan.plans().get("small"));
        var unused = entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(small, "alice", 1));
        assertThat(call).isNotDone();
        change(withPlan, limit(5));
        entered(call);
    }

    @Test
    void timeOfTheWaitStaysIfLaterCallsDoNotWait() throws Exception {
        Settlement both = entered(enter(2));
        List<CompletableFuture<Settlement>> calls = crowd(2);
        RateLimit hasty = limit.definition()
                .with(RateLimitOverride.builder().maxWait(Duration.ZERO).build());
        change(limit, hasty);
        assertThat(calls).noneMatch(CompletableFuture::isDone);
        assertFails(enter(new Charge(hasty, "alice", 1)));
        both.release();
        entered(calls.get(0));
        entered(calls.get(1));
    }

    private static RateLimit disabled(RateLimit limit) {
        return limit.definition()
                .with(RateLimitOverride.builder().enabled(false).build());
    }

    /** The call knows its charges as they were before it waited. */
    @Test
    void actualCostOfACallThatWaitedIsChargedToALimitThatHasChanged() throws Exception {
        RateLimit tokens = TestLimits.tokenBucket("tokens", 100, "1/d");
        RateLimit larger = TestLimits.tokenBucket("tokens", 200, "1/d");
        Charge estimate = new Charge(tokens, "alice", 10);
        Map<Long, Long> remaining = Map.of(30L, 170L, 0L, 170L, 10L, 160L);
        for (long cost : List.of(30L, 0L, 10L)) {
            Settlement both = entered(enter(2));
            CompletableFuture<Settlement> call = enter(estimate, new Charge(limit, "alice", 1));
            change(tokens, larger);
            both.release();
            Settlement settlement = entered(call);
            settlement.settle(Map.of(estimate, cost)).toCompletableFuture().get(10, TimeUnit.SECONDS);
            settlement.release();
            assertThat(store.decide(StoreRequest.peek(new Charge(larger, "alice", 0)))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(remaining.get(cost));
        }
    }

    @Test
    void callThatWaitedCostsNothingOfALimitThatWasDisabledMeanwhile() throws Exception {
        RateLimit tokens = TestLimits.tokenBucket("tokens", 100, "1/d");
        Charge estimate = new Charge(tokens, "alice", 10);
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> call = enter(estimate, new Charge(limit, "alice", 1));
        change(tokens, disabled(tokens));
        both.release();
        entered(call).settle(Map.of(estimate, 30L)).toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertThat(store.decide(StoreRequest.peek(new Charge(tokens, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(100);
    }

    @Test
    void blockByALimitThatWasDisabledMeanwhileRejectsNoCallThatWaits() throws Exception {
        RateLimit logins = RateLimit.named("logins")
                .rate("5/m")
                .blockFor(Duration.ofHours(1))
                .build();
        Settlement both = entered(enter(2));
        CompletableFuture<Settlement> call = enter(new Charge(logins, "alice", 1), new Charge(limit, "alice", 1));
        store.change(logins, "alice", BucketChange.block(Duration.ofHours(1)))
                .toCompletableFuture()
                .join();
        change(logins, disabled(logins));
        both.release();
        entered(call).release();
        assertThat(free()).isEqualTo(2);
    }

    /** The call has read the limit before. */
    @Test
    void callThatKnowsAnOlderFormOfItsLimitWaitsByTheNextOne() throws Exception {
        Settlement both = entered(enter(2));
        RateLimit off = disabled(limit);
        change(limit, off);
        CompletableFuture<Settlement> call = enter(2);
        change(
                off,
                limit.definition().with(RateLimitOverride.builder().capacity(4).build()));
        entered(call);
        both.release();
    }

    /** It waits for another limit meanwhile. */
    @Test
    void callHoldsPermitsOfALimitThatWasDisabledForAWhile() throws Exception {
        RateLimit other = WaitingCalls.limit("imports", 1);
        Settlement busy = entered(enter(new Charge(other, "alice", 1)));
        CompletableFuture<Settlement> call = enter(new Charge(limit, "alice", 2), new Charge(other, "alice", 1));
        RateLimit disabled = disabled(limit);
        change(limit, disabled);
        change(disabled, limit);
        busy.release();
        entered(call);
        assertThat(free()).isZero();
    }

    /** The decisions under way end after that. */
    @Test
    void callsTakeTheirTurnsAfterTheirLimitWasDisabledForAMoment() throws Exception {
        store.shared = true;
        RateLimitGate elsewhere = new RateLimitGate(store, (charge, decision, outcome) -> {}, new Timers());
        Settlement both = entered(WaitingCalls.enter(elsewhere, new Charge(limit, "alice", 2)));
        // While the limit is disabled, the store is asked for the other one alone.
        Charge[] charges = {
            new Charge(limit, "alice", 2), new Charge(TestLimits.fixedWindow("other", 5, "5/h"), "alice", 1)
        };
        List<CompletableFuture<Settlement>> calls = List.of(
                WaitingCalls.enter(gate, charges),
                WaitingCalls.enter(gate, charges),
                WaitingCalls.enter(gate, charges));
        RateLimit disabled = disabled(limit);
        store.answer = new CompletableFuture<>();
        change(limit, disabled);
        change(disabled, limit);
        store.answer.complete(null);
        entered(calls.get(0));
        assertThat(gate.waitingCalls(limit)).isEqualTo(2);
        both.release();
        gate.permitsReleased(limit.id(), KeyDigest.of("alice"));
        gate.permitsReleased(limit.id(), KeyDigest.of("alice"));
        entered(calls.get(1)).release();
        entered(calls.get(2)).release();
    }

    /** No time passes. */
    private static final class Timers implements Waiter {

        @Override
        public void await(Duration delay) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration delay) {
            return new CompletableFuture<>();
        }
    }

    private static final class Store extends DelegatingRateLimitStore {

        private final AtomicInteger decided = new AtomicInteger();

        private volatile boolean shared;

        /** Before it there is no decision. */
        private volatile CompletableFuture<Void> answer = CompletableFuture.completedFuture(null);

        Store() {
            super(new InMemoryRateLimitStore(TimeSource.monotonic(), 1_000));
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            decided.incrementAndGet();
            return StoreAnswer.of(
                    () -> answer.thenCompose(now -> super.decide(request).toStage()));
        }

        @Override
        public boolean isNonBlocking(RateLimit limit) {
            return !shared;
        }
    }
}

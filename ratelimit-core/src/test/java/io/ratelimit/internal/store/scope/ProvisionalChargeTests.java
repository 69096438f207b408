package io.ratelimit.internal.store.scope;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.Scope;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.internal.limiter.RateLimitGate;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A charge that another store may undo counts for capacity and for nothing else. */
@Timeout(180)
class ProvisionalChargeTests {

    private final TestClock clock = new TestClock();

    private final RateLimitStore instance = memory();

    private final TrippingStore home = server();

    private final TrippingStore eu = server();

    private final RateLimitStore store = RoutingRateLimitStore.byScope(
            RoutingRateLimitStore.byServer(
                    new FailoverRateLimitStore(home, instance),
                    Map.of("eu", new FailoverRateLimitStore(eu, instance)),
                    UnaryOperator.identity()),
            instance);

    private final Charge total = charge(limit("total").redis("eu"));

    private Charge perUser(Scope scope) {
        return charge(limit("per-user").scope(scope).blockFor(Duration.ofMinutes(10)));
    }

    /** A new user calls twice at once, and a total is used up. */
    @ParameterizedTest
    @EnumSource(Scope.class)
    void rejectedCallIsNoViolationOfAnother(Scope scope) {
        Charge user = perUser(scope);
        store.decide(total).await();
        CompletableFuture<Void> answer = eu.hold();
        CompletableFuture<StoreOutcome> one = decideAsync(user, total);
        CompletableFuture<StoreOutcome> other = decideAsync(user, total);
        answer.complete(null);
        assertThat(List.of(one.join(), other.join())).allMatch(StoreOutcome::isRejected);
        assertThat(one.join().decisions())
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, false);
        assertFresh(user);
    }

    /** All plans of a limit share its buckets. */
    @ParameterizedTest
    @EnumSource(Scope.class)
    void rejectedCallOfAPlanWithoutBlocksIsNoViolationOfAnotherPlan(Scope scope) {
        RateLimit perUser =
                limit("per-user").scope(scope).blockFor(Duration.ofMinutes(10)).build();
        RateLimit staff = perUser.with(RateLimitPlan.named("staff").blockFor(Duration.ZERO));
        store.decide(total).await();
        CompletableFuture<Void> answer = eu.hold();
        CompletableFuture<StoreOutcome> call = decideAsync(new Charge(staff, "alice", 1), total);
        StoreOutcome other = store.decide(new Charge(perUser, "alice", 1)).await();
        answer.complete(null);
        assertThat(call.join().isRejected()).isTrue();
        assertThat(other.isRejected()).isFalse();
    }

    /** A disabled limit blocks nothing, so it may be on a call with one that blocks keys in another store. */
    @ParameterizedTest
    @EnumSource(Scope.class)
    void chargeOfALimitThatBlocksIsFinalBesideADisabledOneThatDoes(Scope scope) {
        RateLimit off = limit("off")
                .redis("eu")
                .blockFor(Duration.ofMinutes(10))
                .enabled(false)
                .build();
        Charge paid =
                new Charge(off.with(RateLimitPlan.named("paid").enabled(true).blockFor(Duration.ZERO)), "alice", 1);
        Charge user = perUser(scope);
        store.decide(paid).await();
        CompletableFuture<Void> answer = eu.hold();
        CompletableFuture<StoreOutcome> call = decideAsync(user, paid);
        StoreOutcome other = store.decide(user).await();
        answer.complete(null);
        assertThat(call.join().isRejected()).isTrue();
        assertThat(other.isRejected()).isFalse();
    }

    /** Permits that come back between a look and a charge would be taken before the others are asked. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callThatALookRejectsTakesNothingThoughPermitsComeBack(boolean blocks) {
        List<StoreRequest> charged = new CopyOnWriteArrayList<>();
        RateLimitStore both = withInstance(request -> {
            if (request.isPeek()) {
                clock.advance(Duration.ofHours(1));
            } else {
                charged.add(request);
            }
        });
        RateLimit perUser = limit("per-user")
                .scope(Scope.INSTANCE)
                .blockFor(Duration.ofMinutes(10))
                .build();
        RateLimit ofPlan =
                blocks ? perUser : perUser.with(RateLimitPlan.named("staff").blockFor(Duration.ZERO));
        instance.decide(new Charge(perUser, "alice", 1)).await();
        int asked = eu.asked().size();
        StoreOutcome outcome = both.decide(StoreRequest.of(List.of(new Charge(ofPlan, "alice", 1), total)))
                .await();
        assertThat(outcome.isRejected()).isTrue();
        assertThat(charged).hasSize(blocks ? 1 : 0);
        assertThat(eu.asked()).as("charged").hasSize(asked);
        assertThat(instance.decide(new Charge(perUser, "alice", 1)).await().isRejected())
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource(Scope.class)
    void storeThatFailsBlocksNothing(Scope scope) {
        Charge user = perUser(scope);
        eu.breakOnce(new StackOverflowError("test"));
        assertThat(decideAsync(user, total)).isCompletedExceptionally();
        assertFresh(user);
    }

    /** Nothing tells of it: a later attempt finds it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callThatWaitsGetsThePermitOfACallThatDoesNotTakePlace(boolean fails) throws Exception {
        List<CompletableFuture<Void>> attempts = new CopyOnWriteArrayList<>();
        RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, later(attempts));
        Charge own = charge(concurrency("own").scope(Scope.INSTANCE));
        Charge common = charge(concurrency("common").redis("eu").onStoreFailure(OnStoreFailure.REJECT));
        enter(gate, common).get(1, TimeUnit.MINUTES);
        CompletableFuture<Void> answer = eu.hold();
        CompletableFuture<Settlement> both = enter(gate, common, own);
        CompletableFuture<Settlement> single = enter(gate, own);
        assertThat(single).isNotDone();
        if (fails) {
            answer.completeExceptionally(new RateLimitStoreException(Reason.TIMEOUT, "hangs", null));
            assertThat(both).failsWithin(Duration.ofMinutes(1)).withThrowableOfType(ExecutionException.class);
        } else {
            answer.complete(null);
            assertThat(both).isNotDone();
        }
        attempts.forEach(attempt -> attempt.complete(null));
        single.get(1, TimeUnit.MINUTES).release();
    }

    /** The charge of its last attempt, which another store has rejected, is refunded before the next. */
    @Test
    void callThatWaitsIsNotRejectedByItsOwnCharge() throws Exception {
        RateLimitGate gate = new RateLimitGate(store, (charge, decision, outcome) -> {}, later(new ArrayList<>()));
        Charge place = charge(concurrency("place").scope(Scope.INSTANCE));
        Charge common = charge(concurrency("common"));
        Settlement holder = enter(gate, common).get(1, TimeUnit.MINUTES);
        CompletableFuture<Void> refund = eu.holdRefunds();
        CompletableFuture<Settlement> waiting = enter(gate, place, common, total);
        holder.release();
        assertThat(waiting).isNotDone();
        refund.complete(null);
        waiting.get(1, TimeUnit.MINUTES).release();
    }

    private static CompletableFuture<Settlement> enter(RateLimitGate gate, Charge... charges) {
        return gate.enterAsync(new AcquireRequest(List.of(charges), false, CallListener.NONE))
                .toCompletableFuture();
    }

    private static RateLimitBuilder concurrency(String name) {
        return RateLimit.named(name)
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(1)
                .maxWait(Duration.ofHours(1));
    }

    private static Waiter later(List<CompletableFuture<Void>> attempts) {
        return new Waiter() {
            @Override
            public void await(Duration delay) {
                throw new UnsupportedOperationException();
            }

            @Override
            public CompletionStage<Void> awaitAsync(Duration delay) {
                CompletableFuture<Void> time = new CompletableFuture<>();
                if (delay.equals(Duration.ofSeconds(1))) {
                    attempts.add(time);
                }
                return time;
            }
        };
    }

    @ParameterizedTest
    @EnumSource(Scope.class)
    void callThatExceedsALimitIsAViolation(Scope scope) {
        Charge user = perUser(scope);
        Charge large = charge(limit("large").capacity(10).redis("eu"));
        assertThat(decideAsync(user, large).join().isRejected()).isFalse();
        assertThat(decideAsync(user, large).join().isRejected()).isTrue();
        assertThat(status(user).isBlocked()).isTrue();
        assertThat(store.decide(StoreRequest.peek(large)).await().decision().remaining())
                .isEqualTo(9);
    }

    /** What is reported of the other limit is what a look at it tells. */
    @Test
    void storeThatRejectsFirstLeavesTheOthersUncharged() {
        Charge own = charge(limit("own").scope(Scope.INSTANCE));
        Charge trial = charge(limit("trial").dryRun(true).scope(Scope.INSTANCE));
        Charge other = charge(limit("other").capacity(10).redis("eu"));
        store.decide(trial).await();
        assertThat(decideAsync(trial, other).join().isRejected())
                .as("a dry run rejects nothing")
                .isFalse();
        store.decide(own).await();
        int asked = eu.asked().size();
        StoreOutcome rejected = decideAsync(own, trial, other).join();
        assertThat(eu.asked()).as("charged").hasSize(asked);
        assertThat(rejected.decisions()).extracting(RateLimitDecision::allowed).containsExactly(false, false, true);
        assertThat(rejected.decisions().get(2))
                .isEqualTo(store.decide(StoreRequest.peek(other)).await().decision());
    }

    @Test
    void callThatTheInstanceBlocksChargesNoServer() {
        Charge user = perUser(Scope.INSTANCE);
        decideAsync(user, total).join();
        int asked = eu.asked().size();
        for (int i = 0; i < 3; i++) {
            assertThat(decideAsync(user, total).join().isRejected()).isTrue();
        }
        assertThat(eu.asked()).hasSize(asked);
    }

    /** A call that waits for a server is the one that could be undone. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void permitsThatACallWouldHoldAreReleased(boolean dryRun) {
        Charge held = charge(RateLimit.named("held")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(1)
                .dryRun(dryRun)
                .redis("eu"));
        Charge user = perUser(Scope.SHARED);
        store.decide(user).await();
        assertThat(decideAsync(held, user).join().isRejected()).isTrue();
        assertThat(store.decide(StoreRequest.peek(held)).await().decision().remaining())
                .isEqualTo(1);
    }

    @Test
    void reservationIsRefunded() {
        Charge later = charge(limit("later").maxWait(Duration.ofHours(5)).redis("eu"));
        Charge user = perUser(Scope.SHARED);
        store.decide(user).await();
        store.decide(later).await();
        RateLimitDecision before =
                store.decide(StoreRequest.peek(later)).await().decision();
        assertThat(decideAsync(later, user).join().isRejected()).isTrue();
        assertThat(store.decide(StoreRequest.peek(later)).await().decision()).isEqualTo(before);
    }

    @Test
    void dryRunStaysChargedAndBlocksNothing() {
        Charge trial = charge(limit("trial").dryRun(true).blockFor(Duration.ofMinutes(1)));
        store.decide(total).await();
        StoreOutcome rejected = decideAsync(trial, total).join();
        assertThat(rejected.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, false);
        assertThat(store.decide(StoreRequest.peek(trial)).await().decision().remaining())
                .isZero();
    }

    /** Undone, its charge could be the violation of a caller whose plan is not in dry run. */
    @Test
    void storeThatFailsLeavesLimitsInDryRunUncharged() {
        List<StoreRequest> asked = new CopyOnWriteArrayList<>();
        RateLimitStore both = withInstance(asked::add);
        Charge trial = charge(limit("trial").dryRun(true).scope(Scope.INSTANCE));
        eu.breakOnce(new StackOverflowError("test"));
        StoreRequest request = StoreRequest.of(List.of(trial, total));
        assertThat(both.decide(request).toStage().toCompletableFuture()).isCompletedExceptionally();
        assertThat(asked).isEmpty();
        assertThat(both.decide(request).await().isRejected()).isFalse();
        assertThat(asked).hasSize(1);
    }

    @Test
    void storeThatFailsForALimitInDryRunHasNoSay() {
        Charge trial = charge(limit("trial").dryRun(true));
        home.breakOnce(new StackOverflowError("test"));
        StoreOutcome outcome = decideAsync(trial, total).join();
        assertThat(outcome.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, true);
        assertThat(store.decide(StoreRequest.peek(total)).await().decision().remaining())
                .isZero();
    }

    /** @param after each decision in the memory of the instance */
    private RateLimitStore withInstance(Consumer<StoreRequest> after) {
        RateLimitStore observed = new DelegatingRateLimitStore(instance) {

            @Override
            public StoreAnswer decide(StoreRequest request) {
                StoreAnswer answer = super.decide(request);
                after.accept(request);
                return answer;
            }
        };
        return RoutingRateLimitStore.byScope(
                RoutingRateLimitStore.byServer(
                        new FailoverRateLimitStore(home, instance),
                        Map.of("eu", new FailoverRateLimitStore(eu, instance)),
                        UnaryOperator.identity()),
                observed);
    }

    private CompletableFuture<StoreOutcome> decideAsync(Charge... charges) {
        return store.decide(StoreRequest.of(List.of(charges))).toStage().toCompletableFuture();
    }

    private void assertFresh(Charge charge) {
        BucketStatus status = status(charge);
        assertThat(status.isBlocked()).isFalse();
        assertThat(status.remaining()).isEqualTo(1);
    }

    private BucketStatus status(Charge charge) {
        return store.change(charge.limit(), charge.key(), BucketChange.NONE)
                .toCompletableFuture()
                .join();
    }

    private static RateLimitBuilder limit(String name) {
        return RateLimit.named(name).capacity(1).rate("1/h");
    }

    private static Charge charge(RateLimitBuilder limit) {
        return new Charge(limit.build(), "alice", 1);
    }

    private RateLimitStore memory() {
        return new InMemoryRateLimitStore(clock, 100);
    }

    private TrippingStore server() {
        return new TrippingStore(memory()) {

            @Override
            public boolean isNonBlocking(RateLimit limit) {
                return false;
            }
        };
    }
}

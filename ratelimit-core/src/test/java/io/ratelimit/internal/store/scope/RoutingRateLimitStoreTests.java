package io.ratelimit.internal.store.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.Scope;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.internal.store.rejection.RejectionCache;
import io.ratelimit.internal.store.rejection.RejectionCachingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class RoutingRateLimitStoreTests {

    private final TestClock clock = new TestClock();

    private final InMemoryRateLimitStore instance = memory();

    private final Server home = new Server(memory());

    private final Server eu = new Server(memory());

    private final RoutingRateLimitStore routing = routing(UnaryOperator.identity());

    private final RateLimitStore store = RoutingRateLimitStore.byScope(routing, instance);

    private final Charge global = charge("global", 5, OnStoreFailure.THROW, null, false);

    private final Charge regional = charge("regional", 2, OnStoreFailure.THROW, "eu", false);

    private final Charge globalDryRun = charge("global-dry-run", 2, OnStoreFailure.THROW, null, true);

    @Test
    void eachLimitIsInItsServerAlone() {
        store.decide(regional).await();
        store.decide(StoreRequest.of(List.of(global))).await();
        assertThat(eu.decide(StoreRequest.peek(regional)).await().decision().remaining())
                .isEqualTo(1);
        assertThat(home.decide(StoreRequest.peek(regional)).await().decision().remaining())
                .isEqualTo(2);
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(4);
        assertThat(eu.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(5);
        store.change(regional.limit(), regional.key(), BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(eu.decide(StoreRequest.peek(regional)).await().decision().remaining())
                .isEqualTo(2);
        store.change(global.limit(), global.key(), BucketChange.grant(1))
                .toCompletableFuture()
                .join();
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(5);
        store.charge(regional).toCompletableFuture().join();
        assertThat(eu.decide(StoreRequest.peek(regional)).await().decision().remaining())
                .isEqualTo(1);
    }

    /** A refresh moves a limit to another server or scope while its calls run. */
    @Test
    void permitsAreCountedWhereCallsHoldThem() {
        RateLimitBuilder calls =
                RateLimit.named("calls").algorithm(Algorithm.CONCURRENCY).capacity(5);
        RateLimit atHome = calls.build();
        RateLimit own = calls.scope(Scope.INSTANCE).build();
        RateLimit abroad = calls.scope(Scope.SHARED).redis("eu").build();
        List.of(atHome, own, abroad).forEach(this::hold);
        eu.fails = true;
        hold(abroad);
        assertThat(List.of(atHome, own, abroad)).extracting(store::heldPermits).containsOnly(4L);
    }

    private void hold(RateLimit limit) {
        assertThat(store.decide(StoreRequest.refundable(List.of(new Charge(limit, "alice", 1))))
                        .await()
                        .decision()
                        .allowed())
                .isTrue();
    }

    @Test
    void spellingsOfANameAreTheSameServer() {
        Charge other =
                new Charge(RateLimit.named("regional").rate("2/h").redis("E-U").build(), "alice", 1);
        store.decide(regional).await();
        assertThat(store.decide(other).await().decision().remaining()).isZero();
        assertThat(store.decide(new Charge(
                                RateLimit.named("global")
                                        .rate("5/h")
                                        .redis("Default")
                                        .build(),
                                "alice",
                                1))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(4);
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(4);
    }

    @Test
    void unknownServerIsAnError() {
        Charge nowhere =
                new Charge(RateLimit.named("q").rate("1/h").redis("mars").build(), "alice", 1);
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> store.decide(nowhere).await())
                .withMessageContaining("\"mars\"");
    }

    @Test
    void rejectionRefundsTheOtherServer() throws Exception {
        StoreRequest both = StoreRequest.of(List.of(global, regional, globalDryRun));
        assertThat(store.decide(both).await().isRejected()).isFalse();
        assertThat(decideAsync(both).isRejected()).isFalse();
        StoreOutcome rejected = store.decide(both).await();
        assertThat(rejected.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, false, false);
        assertThat(rejected.decisions())
                .extracting(RateLimitDecision::remaining)
                .containsExactly(3L, 0L, 0L);
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(3);
        assertThat(decideAsync(both).isRejected()).isTrue();
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(3);
    }

    @Test
    void dryRunStaysChargedIfAnotherServerRejects() {
        store.decide(regional).await();
        store.decide(regional).await();
        store.decide(StoreRequest.of(List.of(globalDryRun, global, regional))).await();
        assertThat(home.decide(StoreRequest.peek(globalDryRun))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(1);
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(5);
    }

    @Test
    void failureRefundsTheOtherServer() {
        eu.fails = true;
        StoreRequest both = StoreRequest.of(List.of(globalDryRun, global, regional));
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> store.decide(both).await());
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> decideAsync(both))
                .withCauseInstanceOf(RateLimitStoreException.class);
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(5);
        assertThat(home.decide(StoreRequest.peek(globalDryRun))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(2);
        assertThat(store.decide(global).await().decision().allowed()).isTrue();
        assertThat(routing.lastFailures()).extracting(StoreFailure::redis).containsExactly("eu");
    }

    @Test
    void policyOfTheLimitWhoseServerFailsDecides() {
        eu.fails = true;
        Charge allow = charge("allow", 1, OnStoreFailure.ALLOW, "eu", false);
        Charge local = charge("local", 1, OnStoreFailure.LOCAL, "eu", false);
        Charge reject = charge("reject", 1, OnStoreFailure.REJECT, "eu", false);
        for (int i = 0; i < 2; i++) {
            assertThat(store.decide(StoreRequest.of(List.of(global, allow)))
                            .await()
                            .isRejected())
                    .isFalse();
        }
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(3);
        StoreOutcome admitted =
                store.decide(StoreRequest.refundable(List.of(global, local))).await();
        assertThat(admitted.isRejected()).isFalse();
        assertThat(store.decide(StoreRequest.of(List.of(global, local))).await().isRejected())
                .isTrue();
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(2);
        admitted.refund().refund(admitted.charges()).toCompletableFuture().join();
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(3);
        assertThat(store.decide(StoreRequest.of(List.of(global, local))).await().isRejected())
                .isFalse();
        assertThatExceptionOfType(RateLimitRefusedException.class)
                .isThrownBy(() ->
                        store.decide(StoreRequest.of(List.of(global, reject))).await());
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(2);
    }

    @Test
    void rejectionByTheInstanceAsksServersForNoPermit() {
        Charge own = new Charge(
                RateLimit.named("own").rate("1/h").scope(Scope.INSTANCE).build(), "alice", 1);
        StoreRequest three = StoreRequest.of(List.of(global, own, regional));
        assertThat(store.decide(three).await().isRejected()).isFalse();
        StoreOutcome rejected = store.decide(three).await();
        assertThat(rejected.decisions()).extracting(RateLimitDecision::allowed).containsExactly(true, false, true);
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(4);
        assertThat(eu.decide(StoreRequest.peek(regional)).await().decision().remaining())
                .isEqualTo(1);
        eu.fails = true;
        store.change(own.limit(), own.key(), BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> store.decide(three).await());
        assertThat(store.decide(StoreRequest.peek(own)).await().decision().remaining())
                .isEqualTo(1);
    }

    @Test
    void permitsThatCallsHoldAreReleasedInTheirServer() {
        Charge held = new Charge(
                RateLimit.named("held")
                        .algorithm(Algorithm.CONCURRENCY)
                        .capacity(1)
                        .redis("eu")
                        .build(),
                "alice",
                1);
        StoreRequest call = StoreRequest.refundable(List.of(global, held));
        StoreOutcome first = store.decide(call).await();
        assertThat(first.isRejected()).isFalse();
        assertThat(store.decide(call).await().isRejected()).isTrue();
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(4);
        first.refund().refund(List.of(held)).toCompletableFuture().join();
        assertThat(store.decide(call).await().isRejected()).isFalse();
        assertThat(home.decide(StoreRequest.peek(global)).await().decision().remaining())
                .isEqualTo(3);
    }

    @Test
    void rememberedRejectionAsksNoServer() {
        RoutingRateLimitStore remembering = remembering();
        StoreRequest both = StoreRequest.of(List.of(global, regional));
        for (int i = 0; i < 3; i++) {
            remembering.decide(both).await();
        }
        int asked = home.asked.get() + eu.asked.get();
        StoreOutcome again = remembering.decide(both).await();
        assertThat(again.decisions()).extracting(RateLimitDecision::remaining).containsExactly(3L, 0L);
        assertThat(home.asked.get() + eu.asked.get()).isEqualTo(asked);
        remembering
                .change(regional.limit(), regional.key(), BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(remembering.decide(both).await().isRejected()).isFalse();
    }

    @Test
    void refundByACallOfOneServerEndsTheRememberedRejection() {
        RoutingRateLimitStore remembering = remembering();
        remembering.decide(regional).await();
        StoreOutcome alone =
                remembering.decide(StoreRequest.refundable(List.of(regional))).await();
        StoreRequest both = StoreRequest.of(List.of(global, regional));
        assertThat(remembering.decide(both).await().isRejected()).isTrue();
        alone.refund().refund(alone.charges()).toCompletableFuture().join();
        assertThat(remembering.decide(both).await().isRejected()).isFalse();
    }

    @Test
    void rejectionOfAnOutageIsNotRemembered() {
        RoutingRateLimitStore remembering = remembering();
        Charge local = charge("local", 1, OnStoreFailure.LOCAL, "eu", false);
        StoreRequest both = StoreRequest.of(List.of(global, local));
        eu.fails = true;
        assertThat(remembering.decide(both).await().isRejected()).isFalse();
        assertThat(remembering.decide(both).await().isRejected()).isTrue();
        eu.fails = false;
        assertThat(remembering.decide(both).await().isRejected()).isFalse();
    }

    /** Whatever is taken and refunded in between, each limit has counted exactly the calls that were allowed. */
    @Test
    void threadsAreNeverAdmittedByOneServerAlone() throws Exception {
        Charge many = charge("many", 60, OnStoreFailure.THROW, null, false);
        Charge fewer = charge("fewer", 50, OnStoreFailure.THROW, "eu", false);
        StoreRequest call = StoreRequest.of(List.of(many, fewer));
        long allowed = ParallelCalls.countAllowed(
                4, 200, thread -> () -> !store.decide(call).await().isRejected());
        assertThat(allowed).isEqualTo(50);
        assertThat(home.decide(StoreRequest.peek(many)).await().decision().remaining())
                .isEqualTo(10);
        assertThat(eu.decide(StoreRequest.peek(fewer)).await().decision().remaining())
                .isZero();
    }

    /** What is added to stores later must not go to the default server, or to Redis for a limit of the instance. */
    @Test
    void everythingAboutALimitIsRouted() {
        assertThat(DelegatingRateLimitStore.class.getDeclaredMethods())
                .filteredOn(method -> Stream.of(method.getParameterTypes())
                        .anyMatch(Set.of(RateLimit.class, Charge.class, StoreRequest.class)::contains))
                .hasSizeGreaterThan(4)
                .allSatisfy(method -> assertThat(RoutingRateLimitStore.class.getDeclaredMethod(
                                method.getName(), method.getParameterTypes()))
                        .isNotNull());
    }

    private StoreOutcome decideAsync(StoreRequest request) throws Exception {
        return store.decide(request).toStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    private RoutingRateLimitStore remembering() {
        RejectionCache rejections = new RejectionCache(System::nanoTime);
        return routing(store -> new RejectionCachingRateLimitStore(store, () -> {}, rejections));
    }

    /** @param cache decorates the servers and what decides calls with limits in both */
    private RoutingRateLimitStore routing(UnaryOperator<RateLimitStore> cache) {
        return RoutingRateLimitStore.byServer(
                new FailoverRateLimitStore(cache.apply(home), instance, event -> {}, "default"),
                Map.of("eu", new FailoverRateLimitStore(cache.apply(eu), instance, event -> {}, "eu")),
                cache);
    }

    private InMemoryRateLimitStore memory() {
        return new InMemoryRateLimitStore(clock, 100);
    }

    private static Charge charge(String name, long capacity, OnStoreFailure policy, String server, boolean dryRun) {
        var limit = RateLimit.named(name)
                .capacity(capacity)
                .rate("1/h")
                .dryRun(dryRun)
                .blockFor(Duration.ZERO)
                .onStoreFailure(policy);
        return new Charge(server == null ? limit.build() : limit.redis(server).build(), "alice", 1);
    }

    /** A server that can fail. */
    private static final class Server extends DelegatingRateLimitStore {

        private final AtomicInteger asked = new AtomicInteger();

        private volatile boolean fails;

        Server(RateLimitStore store) {
            super(store);
        }

        @Override
        public StoreAnswer decide(StoreRequest request) {
            ask();
            return super.decide(request);
        }

        @Override
        public CompletionStage<Void> check() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public boolean isNonBlocking(RateLimit limit) {
            return false;
        }

        private void ask() {
            asked.incrementAndGet();
            if (fails) {
                throw new RateLimitStoreException(Reason.ERROR, "down", null);
            }
        }
    }
}

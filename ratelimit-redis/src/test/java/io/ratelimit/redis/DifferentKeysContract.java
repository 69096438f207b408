package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Refill;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.RedisCluster;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Several limits of one call whose keys are in different slots, by the server's own time: every one is charged, or none
 * is, and what was not charged is as it was, to the microsecond.
 *
 * <p>That is told by a twin, a limit of the same numbers and the same history: asked together, for no permits, the two
 * are asked at the same time.
 */
@Timeout(180)
abstract class DifferentKeysContract {

    private static final int THREADS = 6;

    private static final int CALLS = 30;

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    /** Two of them on one node of a cluster, in slots of their own. */
    private final List<String> keys =
            Stream.of(0, 1, 2, 0).map(DifferentKeysContract::keyOnNode).toList();

    private final RateLimit one = TestLimits.fixedWindow("one", 1, "1/h");

    private RateLimitStore store;

    /** A new, empty store. */
    protected abstract RateLimitStore newStore();

    @BeforeEach
    void createStore() {
        store = newStore();
    }

    private static String keyOnNode(int node) {
        return Stream.generate(() -> "key" + NUMBERS.incrementAndGet())
                .filter(key -> RedisCluster.shardOf(ClusterSlot.of(key.getBytes(StandardCharsets.UTF_8))) == node)
                .findFirst()
                .orElseThrow();
    }

    enum Numbers {
        SLOW(10, "10/h"),

        /** Permits are back while the call is being decided, and one takes no whole number of microseconds. */
        FAST(9_973, "9973/s");

        private final long capacity;

        private final String rate;

        Numbers(long capacity, String rate) {
            this.capacity = capacity;
            this.rate = rate;
        }
    }

    enum Rule {
        TOKEN_BUCKET(Algorithm.TOKEN_BUCKET, Refill.CONTINUOUS),
        TOKEN_BUCKET_BY_INTERVALS(Algorithm.TOKEN_BUCKET, Refill.INTERVAL),
        LEAKY_BUCKET(Algorithm.LEAKY_BUCKET, Refill.CONTINUOUS),
        FIXED_WINDOW(Algorithm.FIXED_WINDOW, Refill.CONTINUOUS),
        SLIDING_WINDOW(Algorithm.SLIDING_WINDOW, Refill.CONTINUOUS),
        SLIDING_WINDOW_LOG(Algorithm.SLIDING_WINDOW_LOG, Refill.CONTINUOUS);

        private final Algorithm algorithm;

        private final Refill refill;

        Rule(Algorithm algorithm, Refill refill) {
            this.algorithm = algorithm;
            this.refill = refill;
        }

        RateLimit limit(String name, Numbers numbers) {
            return limit(name + "-" + numbers, numbers.capacity, numbers.rate);
        }

        RateLimit limit(String name, long capacity, String rate) {
            return RateLimit.named(name)
                    .algorithm(algorithm)
                    .refill(refill)
                    .capacity(capacity)
                    .rate(rate)
                    .build();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whereAllAllowAllAreCharged(Rule rule) {
        RateLimit limit = rule.limit("limit", Numbers.SLOW);
        List<RateLimitDecision> decisions = store.decide(StoreRequest.of(IntStream.range(0, 4)
                        .mapToObj(i -> charge(limit, i, 3 + i))
                        .toList()))
                .await()
                .decisions();
        assertThat(decisions).allMatch(RateLimitDecision::allowed);
        assertThat(decisions).extracting(RateLimitDecision::remaining).containsExactly(7L, 6L, 5L, 4L);
        assertThat(IntStream.range(0, 4).mapToObj(i -> remaining(limit, i))).containsExactly(7L, 6L, 5L, 4L);
    }

    @ParameterizedTest
    @EnumSource
    void whereOneRejectsTheOthersStayAsTheyWere(Rule rule) {
        take(one, 0, 1);
        for (Numbers numbers : Numbers.values()) {
            RateLimit limit = rule.limit("limit", numbers);
            RateLimit twin = rule.limit("twin", numbers);
            long part = numbers.capacity * 3 / 10;
            for (int i = 1; i < 4; i++) {
                store.decide(StoreRequest.of(List.of(charge(limit, i, part), charge(twin, i, part))))
                        .await();
            }
            for (List<Charge> charges : ordersOf(charge(one, 0, 1), limit, 2 * part)) {
                assertThat(store.decide(StoreRequest.of(charges)).await().decisions())
                        .extracting(RateLimitDecision::allowed)
                        .containsExactlyElementsOf(charges.stream()
                                .map(charge -> charge.limit() != one)
                                .toList());
                for (int i = 1; i < 4; i++) {
                    assertTwins(limit, twin, i, 0);
                }
            }
            for (int i = 1; i < 4; i++) {
                assertThat(assertTwins(limit, twin, i, 2 * part).allowed()).isTrue();
                assertTwins(limit, twin, i, 0);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void whereOneRejectsBucketsNeverUsedStayThat(Rule rule) {
        take(one, 0, 1);
        for (Numbers numbers : Numbers.values()) {
            RateLimit limit = rule.limit("limit", numbers);
            for (List<Charge> charges : ordersOf(charge(one, 0, 1), limit, numbers.capacity)) {
                List<RateLimitDecision> decisions =
                        store.decide(StoreRequest.of(charges)).await().decisions();
                for (int i = 0; i < charges.size(); i++) {
                    if (charges.get(i).limit() == limit) {
                        assertThat(decisions.get(i).allowed()).isTrue();
                        assertThat(decisions.get(i).remaining()).isEqualTo(numbers.capacity);
                        assertThat(decisions.get(i).resetAfter()).isZero();
                    }
                }
                for (int i = 1; i < 4; i++) {
                    RateLimitDecision now = store.decide(StoreRequest.peek(charge(limit, i, 0)))
                            .await()
                            .decision();
                    assertThat(now.remaining()).isEqualTo(numbers.capacity);
                    assertThat(now.resetAfter()).isEqualTo(Duration.ZERO);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void dryRunNeitherBlocksTheOthersNorIsBlockedByThem(Rule rule) {
        RateLimit limit = rule.limit("limit", Numbers.SLOW);
        RateLimit trial = TestLimits.dryRun(rule.limit("trial", Numbers.SLOW));
        take(one, 0, 1);
        store.decide(StoreRequest.of(
                        List.of(charge(limit, 1, 4), charge(one, 0, 1), charge(trial, 2, 4), charge(trial, 1, 4))))
                .await();
        store.decide(StoreRequest.of(
                        List.of(charge(trial, 1, 4), charge(trial, 2, 4), charge(limit, 1, 4), charge(one, 0, 1))))
                .await();
        assertThat(remaining(limit, 1)).isEqualTo(10);
        assertThat(remaining(trial, 1)).isEqualTo(2);
        assertThat(remaining(trial, 2)).isEqualTo(2);
        assertThat(store.decide(StoreRequest.of(List.of(charge(limit, 1, 4), charge(trial, 2, 4), charge(limit, 3, 4))))
                        .await()
                        .decisions())
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, false, true);
        assertThat(Stream.of(remaining(limit, 1), remaining(trial, 2), remaining(limit, 3)))
                .containsExactly(6L, 2L, 6L);
    }

    @ParameterizedTest
    @EnumSource
    void threadsWithLimitsInOppositeOrderLoseNothingAndAdmitNoMoreThanTheCapacity(Rule rule) throws Exception {
        for (int tight = 0; tight < 3; tight++) {
            List<Charge> charges = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                long capacity = i == tight ? 60 : 80 + 10 * i;
                charges.add(charge(rule.limit("limit" + tight + i, capacity, capacity + "/d"), i, 1));
            }
            List<Charge> reversed = new ArrayList<>(charges);
            Collections.reverse(reversed);
            long admitted = ParallelCalls.countAllowed(THREADS, CALLS, thread -> {
                List<Charge> inOrder = thread % 2 == 0 ? charges : reversed;
                return () -> store.decide(StoreRequest.of(inOrder)).await().decisions().stream()
                        .allMatch(RateLimitDecision::allowed);
            });
            assertThat(admitted).isBetween(1L, 60L);
            assertTaken(charges, admitted);
            while (store.decide(StoreRequest.of(charges)).await().decisions().stream()
                    .allMatch(RateLimitDecision::allowed)) {
                admitted++;
            }
            assertThat(admitted).isEqualTo(60);
            assertTaken(charges, admitted);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatACallTookIsRefundedWhereverItsKeysAre(Rule rule) {
        RateLimit limit = rule.limit("limit", Numbers.SLOW);
        RateLimit trial = TestLimits.dryRun(rule.limit("trial", Numbers.SLOW));
        List<Charge> charges = new ArrayList<>(
                IntStream.range(0, 4).mapToObj(i -> charge(limit, i, 3)).toList());
        charges.add(charge(trial, 1, 3));
        charges.add(charge(trial, 2, 3));
        StoreOutcome taken = decideRefundably(charges);
        assertThat(taken.decisions()).allMatch(RateLimitDecision::allowed);
        refund(taken, List.of(charges.get(1), charges.get(5), charges.get(2)));
        assertThat(charges)
                .extracting(charge -> store.decide(StoreRequest.peek(charge))
                        .await()
                        .decision()
                        .remaining())
                .containsExactly(7L, 10L, 10L, 7L, 7L, 10L);
        refund(taken, charges);
        assertThat(charges).allSatisfy(charge -> {
            RateLimitDecision now = store.decide(StoreRequest.peek(new Charge(charge.limit(), charge.key(), 0)))
                    .await()
                    .decision();
            assertThat(now.remaining()).isEqualTo(10);
            assertThat(now.resetAfter()).isZero();
        });
    }

    /** But what a limit in dry run has taken. */
    @ParameterizedTest
    @EnumSource
    void rejectedCallHasNothingToRefund(Rule rule) {
        RateLimit limit = rule.limit("limit", Numbers.SLOW);
        RateLimit trial = TestLimits.dryRun(rule.limit("trial", Numbers.SLOW));
        take(one, 0, 1);
        for (int i = 1; i < 4; i++) {
            take(limit, i, 2);
        }
        List<Charge> charges = new ArrayList<>(
                IntStream.range(1, 4).mapToObj(i -> charge(limit, i, 3)).toList());
        charges.add(charge(one, 0, 1));
        charges.add(charge(trial, 1, 3));
        StoreOutcome taken = decideRefundably(charges);
        assertThat(remaining(trial, 1)).isEqualTo(7);
        refund(taken, charges);
        assertThat(charges)
                .extracting(charge -> remaining(charge.limit(), keys.indexOf(charge.key())))
                .containsExactly(8L, 8L, 8L, 0L, 10L);
    }

    private StoreOutcome decideRefundably(List<Charge> charges) {
        return store.decide(StoreRequest.refundable(charges))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    private static void refund(StoreOutcome taken, List<Charge> charges) {
        taken.refund().refund(charges).toCompletableFuture().join();
    }

    private void assertTaken(List<Charge> charges, long admitted) {
        assertThat(charges)
                .allSatisfy(charge -> assertThat(store.decide(StoreRequest.peek(charge))
                                .await()
                                .decision()
                                .remaining())
                        .isEqualTo(charge.limit().capacity() - admitted));
    }

    /** With the one that rejects at every place among charges of the other keys, in either order. */
    private List<List<Charge>> ordersOf(Charge rejecting, RateLimit limit, long permits) {
        List<List<Charge>> orders = new ArrayList<>();
        for (int place = 0; place < 4; place++) {
            List<Charge> order = new ArrayList<>();
            for (int i = 1; i < 4; i++) {
                order.add(charge(limit, i, permits));
            }
            order.add(place, rejecting);
            orders.add(List.copyOf(order));
            Collections.reverse(order);
            orders.add(order);
        }
        return orders;
    }

    private RateLimitDecision assertTwins(RateLimit limit, RateLimit twin, int key, long permits) {
        List<RateLimitDecision> twins = store.decide(
                        StoreRequest.of(List.of(charge(limit, key, permits), charge(twin, key, permits))))
                .await()
                .decisions();
        assertThat(twins.get(0)).isEqualTo(twins.get(1));
        return twins.get(0);
    }

    private void take(RateLimit limit, int key, long permits) {
        assertThat(store.decide(StoreRequest.of(List.of(charge(limit, key, permits))))
                        .await()
                        .decisions())
                .allMatch(RateLimitDecision::allowed);
    }

    private long remaining(RateLimit limit, int key) {
        return store.decide(StoreRequest.peek(charge(limit, key, 0)))
                .await()
                .decision()
                .remaining();
    }

    private Charge charge(RateLimit limit, int key, long permits) {
        return new Charge(limit, keys.get(key), permits);
    }
}

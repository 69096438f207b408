package io.ratelimit.redis.settlement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisClusterUnderTest;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.SharedRedis;
import io.ratelimit.testing.redis.StartedConnections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Costs known afterwards, in servers that are far away, of a cluster, or fail meanwhile. */
@LongRunning
@Timeout(180)
class RedisSettlementTests {

    private static final int CALLS = 10_000;

    private static final int KEYS = 100;

    private static final Duration LONG = Duration.ofSeconds(20);

    private static final Duration WAY = Duration.ofMillis(10);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @RegisterExtension
    static final RedisClusterUnderTest cluster = new RedisClusterUnderTest();

    private final RateLimit limit = TestLimits.tokenBucket("tokens", 50_000, "1/d");

    private static RedisConnector connect(LettuceConnectionFactory connections) {
        return new RedisConnector(connections, LONG, RateLimitScript.load(), RateLimitLibrary.load());
    }

    private static long used(RateLimitStore store, RateLimit limit, String key) {
        return limit.capacity()
                - store.decide(StoreRequest.peek(new Charge(limit, key, 0)))
                        .await()
                        .decision()
                        .remaining();
    }

    private static Settlement call(RateLimitStore store, Charge... charges) {
        StoreOutcome outcome =
                store.decide(StoreRequest.refundable(List.of(charges))).await();
        assertThat(outcome.decisions()).allMatch(RateLimitDecision::allowed);
        return Settlement.of(List.of(charges), outcome, store::charge, UnaryOperator.identity(), null);
    }

    private static void join(Stream<CompletableFuture<Void>> settled) {
        CompletableFuture.allOf(settled.toArray(CompletableFuture[]::new)).join();
    }

    /** Calls beside them are decided, none fails. */
    @Test
    void thousandsThatEndAtOnceAreSettledByFewScripts() throws Exception {
        SharedRedis shared = SharedRedis.get();
        try (FaultyProxy far = new FaultyProxy(shared.port(), WAY)) {
            LettuceConnectionFactory connections = StartedConnections.to(shared.host(), far.port());
            RedisConnector connector = connect(connections);
            Counting counting = new Counting(connector);
            RateLimitStore store = TestStores.over(counting, RedisUnderTest.newPrefix());
            List<CompletableFuture<Void>> settled = IntStream.range(0, CALLS)
                    .mapToObj(i -> store.charge(new Charge(limit, "key" + i % KEYS, 1 + i % 3))
                            .toCompletableFuture())
                    .toList();
            int beside = 0;
            while (settled.stream().anyMatch(one -> !one.isDone())) {
                assertThat(store.decide(new Charge(limit, "beside", 1))
                                .await()
                                .decision()
                                .allowed())
                        .isTrue();
                beside++;
            }
            join(settled.stream());
            assertThat(counting.scripts.get() - beside).isLessThanOrEqualTo(2 + CALLS / QueuedSettlement.FULL);
            long sum = IntStream.range(0, KEYS)
                    .mapToLong(key -> used(store, limit, "key" + key))
                    .sum();
            assertThat(sum)
                    .isEqualTo(IntStream.range(0, CALLS).map(i -> 1 + i % 3).sum());
            connector.destroy();
            connections.destroy();
        }
    }

    /** Settled in one script, in the order of the ends. */
    @Test
    void settlementsOfOneBucketThatEndTogetherCountExactly() {
        Random random = TestRandom.create(getClass());
        for (int history = 0; history < TestRandom.cases(30); history++) {
            TestClock clock = new TestClock();
            RateLimitStore store = redis.storeAt(clock);
            RateLimitStore model = new InMemoryRateLimitStore(clock, 100);
            RateLimit small = TestLimits.tokenBucket("small", 50, "10/s");
            RateLimit window = TestLimits.fixedWindow("window", 50, "50/5s");
            for (int step = 0; step < 10; step++) {
                List<CompletableFuture<Void>> settled = new ArrayList<>();
                for (RateLimit each : List.of(small, window)) {
                    Map<Charge, Settlement> calls = new HashMap<>();
                    Map<Charge, Settlement> expected = new HashMap<>();
                    for (int i = 0; i < 4; i++) {
                        Charge charge = new Charge(each, "key", 1 + random.nextInt(6) + 10 * i);
                        if (model.decide(StoreRequest.peek(charge))
                                .await()
                                .decision()
                                .allowed()) {
                            calls.put(charge, call(store, charge));
                            expected.put(charge, call(model, charge));
                        }
                    }
                    clock.advance(random.nextInt(300_000));
                    calls.forEach((charge, call) -> {
                        long cost = random.nextInt(20);
                        // Some instances die before.
                        if (random.nextInt(5) > 0) {
                            settled.add(call.settle(Map.of(charge, cost)).toCompletableFuture());
                            settled.add(expected.get(charge)
                                    .settle(Map.of(charge, cost))
                                    .toCompletableFuture());
                        }
                    });
                }
                join(settled.stream());
                for (RateLimit each : List.of(small, window)) {
                    Charge look = new Charge(each, "key", 1);
                    assertThat(store.decide(StoreRequest.peek(look)).await().decision())
                            .isEqualTo(model.decide(StoreRequest.peek(look))
                                    .await()
                                    .decision());
                }
                clock.advance(random.nextInt(2_000_000));
            }
        }
    }

    /** The state of the bucket has expired, so there is nothing to refund, but a higher cost counts. */
    @Test
    void callThatLastsLongerThanTheWindowIsSettled() {
        TestClock clock = new TestClock();
        RateLimitStore store = redis.storeAt(clock);
        for (RateLimit each : List.of(
                TestLimits.tokenBucket("bucket", 10, "10/s"),
                TestLimits.fixedWindow("window", 10, "10/s"),
                RateLimit.named("log")
                        .algorithm(Algorithm.SLIDING_WINDOW_LOG)
                        .rate("10/s")
                        .build())) {
            Charge charge = new Charge(each, "key", 6);
            Settlement less = call(store, charge);
            clock.advance(3_600_000_000L);
            Settlement more = call(store, charge);
            join(Stream.of(less.settle(Map.of(charge, 2L)).toCompletableFuture()));
            assertThat(used(store, each, "key")).isEqualTo(6);
            clock.advance(3_600_000_000L);
            join(Stream.of(more.settle(Map.of(charge, 9L)).toCompletableFuture()));
            assertThat(used(store, each, "key")).as(each.name()).isEqualTo(3);
        }
    }

    @Test
    void limitsOfOneCallAreSettledInTheSlotOfEach() throws Exception {
        RedisConnector connector = connect(cluster.connections());
        RateLimitStore store = TestStores.over(connector, RedisUnderTest.newPrefix());
        RateLimit requests = TestLimits.tokenBucket("requests", 1_000, "1/d");
        for (String other : List.of("alice", "bob", "carol", "dave")) {
            Charge one = new Charge(limit, "alice", 10);
            Charge two = new Charge(requests, other, 20);
            long before = used(store, limit, "alice");
            Settlement call = call(store, one, two);
            join(Stream.of(call.settle(Map.of(one, 4L, two, 50L)).toCompletableFuture()));
            assertThat(used(store, limit, "alice")).isEqualTo(before + 4);
            assertThat(used(store, requests, other)).isEqualTo(50);
        }
        connector.destroy();
    }

    /** While Redis is away, actual costs are charged to the local bucket, and to Redis afterwards; the receipts of before are good. */
    @Test
    void receiptsSurviveARestart() throws Exception {
        try (RedisServer server = new RedisServer()) {
            RedisConnector connector = connect(server.connections());
            RateLimitStore shared = TestStores.over(connector, LONG, "test");
            RateLimitStore local = new InMemoryRateLimitStore(new TestClock(), 100);
            RateLimitStore store = new FailoverRateLimitStore(shared, local);
            RateLimit slow = TestLimits.fixedWindow("slow", 1_000, "1000/d");
            Charge charge = new Charge(slow, "key", 3);
            await().ignoreExceptions().until(() -> used(shared, slow, "key") == 0);
            Settlement early = call(shared, charge);
            server.kill();
            join(Stream.of(store.charge(new Charge(slow, "key", 4)).toCompletableFuture()));
            assertThat(used(local, slow, "key")).isEqualTo(4);
            server.restart();
            await().ignoreExceptions().until(() -> used(shared, slow, "key") == 3);
            join(Stream.of(early.settle(Map.of(charge, 1L)).toCompletableFuture()));
            assertThat(used(shared, slow, "key")).isEqualTo(1);
            connector.destroy();
        }
    }

    /** Passes on scripts, and counts them. */
    private static final class Counting implements RateLimitScriptExecutor {

        private final RateLimitScriptExecutor executor;

        private final AtomicLong scripts = new AtomicLong();

        Counting(RateLimitScriptExecutor executor) {
            this.executor = executor;
        }

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            scripts.incrementAndGet();
            return executor.execute(keys, arguments);
        }

        @Override
        public RedisTopology topology() {
            return executor.topology();
        }
    }
}

package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.RedisSentinels;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls that Redis has charged, and that end while it is killed, hangs, or is replaced. Each cost is made once, or counted as lost: Redis
 * may have made it or not. What ends afterwards is made.
 */
@Timeout(300)
@LongRunning
class SettlementsInOutagesTests {

    private static final long CAPACITY = 1_000;

    private static final int ESTIMATE = 10;

    private static final int CALLS = 300;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Pattern REPORT = Pattern.compile("Settlements of calls lost \\(.*\\): (\\d+); permits");

    /** Hundreds of calls at once, on connections that are new, take their time on a busy machine. */
    private static Instance startPatient(List<String> properties) {
        return start(
                Stream.concat(properties.stream(), Stream.of("ratelimit.redis.timeout=5s"))
                        .toList(),
                "local");
    }

    private static Instance start(List<String> properties, String policy) {
        return new Instance(
                Stream.concat(
                                Stream.of(
                                        "ratelimit.redis.timeout=1s",
                                        "ratelimit.on-store-failure=" + policy,
                                        "ratelimit.limits.tokens.capacity=" + CAPACITY,
                                        "ratelimit.limits.tokens.rate=1/d",
                                        "ratelimit.limits.regional.capacity=" + CAPACITY,
                                        "ratelimit.limits.regional.rate=1/d",
                                        "ratelimit.limits.bob.capacity=10000",
                                        "ratelimit.limits.bob.rate=1/d"),
                                properties.stream())
                        .toList(),
                Calls.class);
    }

    private static void awaitUsed(Instance instance, String key, long permits) {
        await("the cost of " + key)
                .atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(used(instance, key)).isEqualTo(permits));
    }

    /** A cost that is sent before may have been charged, so that it is not sent again. */
    private static void awaitUnreachable(Instance instance) {
        StoreHealth health = instance.bean(StoreHealth.class);
        await("the end of the connection")
                .atMost(PATIENCE)
                .until(() -> health.failures().stream()
                        .anyMatch(failure ->
                                failure.reason() == Reason.UNREACHABLE || failure.reason() == Reason.SHORT_CIRCUITED));
    }

    private static void awaitDisconnected(Runnable call) {
        await("the end of the connection").atMost(PATIENCE).until(() -> {
            try {
                call.run();
                return false;
            } catch (RuntimeException ex) {
                Throwable cause = ex instanceof CompletionException ? ex.getCause() : ex;
                return cause instanceof RateLimitStoreException failure
                        && (failure.getReason() == Reason.UNREACHABLE || failure.getReason() == Reason.SHORT_CIRCUITED);
            }
        });
    }

    private static long used(Instance instance, String key) {
        return CAPACITY - instance.limiter("tokens").peek(key).remaining();
    }

    private static List<Call> call(Instance instance, String... keys) {
        List<Call> calls = Stream.of(keys)
                .map(key -> new Call(key, new CompletableFuture<>()))
                .toList();
        Calls service = instance.bean(Calls.class);
        calls.forEach(call -> {
            var unused = service.use(call.key, call.cost);
        });
        await("the calls")
                .atMost(PATIENCE)
                .until(() -> calls.stream().allMatch(call -> used(instance, call.key) == ESTIMATE));
        assertThat(instance.notDecided())
                .as("calls whose costs this instance settles, because Redis charged them too late")
                .isZero();
        return calls;
    }

    private static String[] keys() {
        return IntStream.range(0, CALLS).mapToObj(i -> "caller-" + i).toArray(String[]::new);
    }

    @ParameterizedTest
    @ValueSource(strings = {"local", "allow", "reject", "throw"})
    void costsOfAnOutageAreLostAndCountedAndThoseAfterItAreMade(String policy) {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                Instance instance = start(redis.properties(), policy)) {
            List<Call> calls = call(instance, "alice", "bob", "carol");
            redis.kill();
            awaitUnreachable(instance);
            calls.get(0).cost.complete(30);
            calls.get(1).cost.complete(4);
            awaitLost(instance, "tokens", 2);
            if (policy.equals("local")) {
                // The local bucket has what is charged meanwhile, and no estimate.
                awaitUsed(instance, "alice", 20);
            }
            redis.restart();
            awaitUsed(instance, "alice", ESTIMATE);
            awaitUsed(instance, "bob", ESTIMATE);
            calls.get(2).cost.complete(40);
            awaitUsed(instance, "carol", 40);
            assertThat(lost(instance, "tokens")).isEqualTo(2);
        }
    }

    @Test
    void chargesOfARedisThatHangsAreMadeOrCountedAsLost() {
        try (LogRecorder log = new LogRecorder("io.ratelimit.redis");
                RedisServer redis = RedisServer.loadingAtOnce();
                Instance instance = start(redis.properties(), "local")) {
            RateLimiter bob = instance.limiter("bob");
            bob.tryAcquire("bob");
            redis.hang();
            List<CompletableFuture<Void>> charged = IntStream.range(0, 500)
                    .mapToObj(i -> bob.chargeAsync("bob", 10).toCompletableFuture())
                    .toList();
            // The local bucket has them.
            charged.forEach(CompletableFuture::join);
            long lost = lost(instance, "bob");
            assertThat(lost).isEqualTo(500);
            redis.goOn();
            await("the first line").atMost(PATIENCE).until(() -> reported(log) > 0);
            // It may run what it got, once.
            await("Redis")
                    .atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                    .untilAsserted(() ->
                            assertThat(10_000 - bob.peek("bob").remaining()).isBetween(1L, 1 + lost * 10));
            bob.charge("bob", 10);
            assertThat(lost(instance, "bob")).isEqualTo(500);
        }
    }

    @Test
    void replicaThatTakesOverHasTheCostsButOfThoseThatAreLost() {
        try (RedisSentinels sentinels = new RedisSentinels();
                Instance instance = startPatient(sentinels.properties())) {
            List<Call> calls = call(instance, keys());
            sentinels.awaitReplicas();
            CompletableFuture<Void> killed = CompletableFuture.runAsync(sentinels.master()::kill);
            for (int i = 0; i < CALLS; i++) {
                if (i == CALLS / 3) {
                    killed.join();
                }
                calls.get(i).cost.complete(i % 2 == 0 ? 30 : 4);
            }
            sentinels.awaitPromotion();
            // The first third may have been made by the server that was killed, before the replicas had it.
            await("the costs")
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertThat((long) settled(instance, CALLS / 3, CALLS))
                            .isGreaterThanOrEqualTo(CALLS - CALLS / 3 - lost(instance, "tokens")));
            settled(instance, 0, CALLS / 3);
        }
    }

    @Test
    void shardsOfAClusterThatWorkHaveTheirCosts() {
        try (RedisCluster cluster = RedisCluster.withReplicas();
                Instance instance = startPatient(cluster.properties())) {
            List<Call> calls = call(instance, keys());
            cluster.awaitReplicas();
            cluster.master(0).kill();
            awaitUnreachable(instance);
            for (int i = 0; i < CALLS; i++) {
                calls.get(i).cost.complete(i % 2 == 0 ? 30 : 4);
            }
            cluster.awaitPromotion(0);
            await("the costs")
                    .atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                    .untilAsserted(() -> assertThat((long) settled(instance, 0, CALLS))
                            .isGreaterThanOrEqualTo(CALLS - lost(instance, "tokens")));
            assertThat(lost(instance, "tokens")).isBetween(1L, CALLS - 100L);
        }
    }

    /** Each limit of a call is settled for itself, on its own server. */
    @Test
    void serverThatWorksHasItsCostWhileAnotherIsAway() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                RedisServer eu = RedisServer.loadingAtOnce();
                Instance instance = start(
                        Stream.concat(
                                        redis.properties().stream(),
                                        Stream.of(
                                                "ratelimit.redis.eu.url=redis://127.0.0.1:" + eu.port(),
                                                "ratelimit.limits.regional.redis=eu"))
                                .toList(),
                        "reject")) {
            CompletableFuture<Integer> cost = new CompletableFuture<>();
            var unused = instance.bean(Calls.class).useBoth("alice", cost);
            awaitUsed(instance, "alice", ESTIMATE);
            await("the decision of both")
                    .atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(RateLimitStoreException.class)
                    .until(() -> instance.limiter("regional").peek("alice").remaining() == CAPACITY - ESTIMATE);
            eu.kill();
            awaitDisconnected(() -> instance.limiter("regional").peek("alice"));
            cost.complete(30);
            awaitUsed(instance, "alice", 30);
            awaitLost(instance, "regional", 1);
            assertThat(lost(instance, "tokens")).isZero();
        }
    }

    private static void awaitLost(Instance instance, String limit, long settlements) {
        await("lost settlements")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(lost(instance, limit)).isEqualTo(settlements));
    }

    private static long lost(Instance instance, String limit) {
        return (long) instance.bean(MeterRegistry.class)
                .get("ratelimit.settlements.lost")
                .tag("limit", limit)
                .counter()
                .count();
    }

    private static long reported(LogRecorder log) {
        return log.lines().stream()
                .map(REPORT::matcher)
                .filter(Matcher::find)
                .mapToLong(line -> Long.parseLong(line.group(1)))
                .sum();
    }

    /** Returns how many have their cost. The others have their estimate, or this instance counts them while Redis is away. */
    private static int settled(Instance instance, int first, int end) {
        List<Integer> settled = new ArrayList<>();
        for (int i = first; i < end; i++) {
            long used = used(instance, "caller-" + i);
            long cost = i % 2 == 0 ? 30 : 4;
            assertThat(used).isIn(cost, (long) ESTIMATE);
            if (used == cost) {
                settled.add(i);
            }
        }
        return settled.size();
    }

    private record Call(String key, CompletableFuture<Integer> cost) {}

    static class Calls {

        @RateLimited(name = "tokens", keyExpression = "#key", permits = "" + ESTIMATE, permitsAfter = "#result")
        public CompletableFuture<Integer> use(String key, CompletableFuture<Integer> cost) {
            return cost;
        }

        @RateLimited(name = "tokens", keyExpression = "#key", permits = "" + ESTIMATE, permitsAfter = "#result")
        @RateLimited(name = "regional", keyExpression = "#key", permits = "" + ESTIMATE, permitsAfter = "2 * #result")
        public CompletableFuture<Integer> useBoth(String key, CompletableFuture<Integer> cost) {
            return cost;
        }
    }
}

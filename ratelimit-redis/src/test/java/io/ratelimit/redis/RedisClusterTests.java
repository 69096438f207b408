package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.RandomHistory;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.RedisCluster;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A cluster decides as one server does, wherever the keys are. */
@Timeout(180)
@LongRunning
class RedisClusterTests {

    @RegisterExtension
    static final RedisClusterUnderTest cluster = new RedisClusterUnderTest();

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final int KEYS = 200;

    private final RedisConnector connector = new RedisConnector(
            cluster.connections(), Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());

    private final RateLimitStore store = TestStores.over(connector, RedisUnderTest.newPrefix());

    private final RateLimit bucket = TestLimits.tokenBucket("bucket", 3, "1/h");

    private final RateLimit window = TestLimits.fixedWindow("window", 2, "1/h");

    @AfterEach
    void close() throws Exception {
        connector.destroy();
    }

    @Test
    void keysOnEveryNodeAreLimitedEachByItself() {
        assertThat(keys().map(RedisClusterTests::node).distinct()).hasSize(RedisCluster.SHARDS);
        for (long remaining = 2; remaining >= 0; remaining--) {
            long expected = remaining;
            assertThat(keys().map(key -> decide(key, bucket).get(0)))
                    .allMatch(RateLimitDecision::allowed)
                    .allMatch(decision -> decision.remaining() == expected);
        }
        assertThat(keys().map(key -> decide(key, bucket).get(0))).noneMatch(RateLimitDecision::allowed);
        store.change(bucket, "key0", BucketChange.RESET).toCompletableFuture().join();
        assertThat(decide("key0", bucket).get(0).allowed()).isTrue();
        assertThat(decide("key1", bucket).get(0).allowed()).isFalse();
    }

    @Test
    void decisionsThatDoNotBlockFindTheirNodeToo() {
        for (int call = 0; call < 2; call++) {
            assertThat(keys().map(key -> store.decide(StoreRequest.of(List.of(new Charge(window, key, 1))))
                            .toStage()
                            .thenApply(StoreOutcome::decisions)
                            .toCompletableFuture()
                            .join()
                            .get(0)))
                    .allMatch(RateLimitDecision::allowed);
        }
        assertThat(keys().map(key -> store.decide(StoreRequest.peek(new Charge(window, key, 1)))
                        .await()
                        .decision()))
                .noneMatch(RateLimitDecision::allowed);
    }

    @Test
    void limitsOfOneKeyAreDecidedTogetherInOneScript() {
        connector.connect();
        long scripts = cluster.calls("fcall");
        for (int call = 0; call < 2; call++) {
            assertThat(keys().map(key -> decide(key, bucket, window)))
                    .allSatisfy(decisions -> assertThat(decisions).allMatch(RateLimitDecision::allowed));
        }
        assertThat(keys().map(key -> decide(key, bucket, window)))
                .allSatisfy(decisions -> assertThat(decisions)
                        .extracting(RateLimitDecision::allowed)
                        .containsExactly(true, false));
        assertThat(keys().map(key -> store.decide(StoreRequest.peek(new Charge(bucket, key, 0)))
                        .await()
                        .decision()
                        .remaining()))
                .containsOnly(1L);
        assertThat(cluster.calls("fcall") - scripts).isEqualTo(4 * KEYS);
    }

    @Test
    void decisionsAreThoseOfOneServer() {
        Random random = TestRandom.create(getClass());
        TestClock clock = new TestClock();
        RateLimitStore one = redis.storeAt(clock);
        RateLimitStore many = cluster.storeAt(clock);
        for (int i = 0; i < KEYS; i++) {
            String key = "key" + i;
            RandomHistory history = new RandomHistory(random, "limit", clock);
            for (int call = 0; call < 10; call++) {
                List<Charge> charges = history.next().stream()
                        .map(charge -> new Charge(charge.limit(), key, charge.permits()))
                        .toList();
                assertThat(many.decide(StoreRequest.of(charges)).await().decisions())
                        .as(history::toString)
                        .isEqualTo(one.decide(StoreRequest.of(charges)).await().decisions());
            }
        }
    }

    /** Each slot tells the server's time to the first call, which is sent again. */
    @Test
    void limitsWithCalendarWindowsInTwoSlotsAreChargedTogetherOrNotAtAll() {
        TestClock clock = new TestClock();
        RateLimitStore atClock = cluster.storeAt(clock);
        RateLimit month = TestLimits.calendarWindow("month", "10/month", "Europe/Berlin");
        RateLimit day = TestLimits.calendarWindow("day", "2/day", "Pacific/Apia");
        List<String> tenants = IntStream.range(0, RedisCluster.SHARDS)
                .mapToObj(node ->
                        keys().filter(key -> node(key) == node).findFirst().orElseThrow())
                .toList();
        for (String tenant : tenants) {
            for (int days = 0; days < 2; days++) {
                List<Charge> charges = List.of(new Charge(month, tenant, 1), new Charge(day, "key0", 1));
                for (int call = 0; call < 4; call++) {
                    boolean fits = call < 2;
                    List<RateLimitDecision> decisions =
                            atClock.decide(StoreRequest.of(charges)).await().decisions();
                    assertThat(decisions).extracting(RateLimitDecision::allowed).containsExactly(true, fits);
                    assertThat(decisions.get(0).remaining()).isEqualTo(10 - 2L * days - Math.min(call + 1, 2));
                }
                assertThat(atClock.decide(StoreRequest.peek(charges.get(0)))
                                .await()
                                .decision()
                                .remaining())
                        .isEqualTo(8 - 2L * days);
                clock.advance(Duration.ofDays(1));
            }
        }
        clock.advance(Duration.ofDays(70));
        for (String tenant : tenants) {
            assertThat(atClock.decide(StoreRequest.of(
                                    List.of(new Charge(month, tenant, 10), new Charge(day, tenant + "x", 2))))
                            .await()
                            .decisions())
                    .allMatch(RateLimitDecision::allowed);
        }
    }

    private static Stream<String> keys() {
        return IntStream.range(0, KEYS).mapToObj(i -> "key" + i);
    }

    private static int node(String key) {
        return RedisCluster.shardOf(ClusterSlot.of(key.getBytes(StandardCharsets.UTF_8)));
    }

    private List<RateLimitDecision> decide(String key, RateLimit... limits) {
        return store.decide(StoreRequest.of(List.of(limits).stream()
                        .map(limit -> new Charge(limit, key, 1))
                        .toList()))
                .await()
                .decisions();
    }
}

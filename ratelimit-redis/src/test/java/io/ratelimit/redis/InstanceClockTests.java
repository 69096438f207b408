package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.change.OverrideSnapshot;
import io.ratelimit.internal.statistics.InstanceFigures;
import io.ratelimit.internal.statistics.InstanceState;
import io.ratelimit.internal.statistics.KeyReport;
import io.ratelimit.internal.statistics.Publication;
import io.ratelimit.internal.statistics.SharedStatistics;
import io.ratelimit.redis.change.RedisChangeChannel;
import io.ratelimit.redis.change.RedisOverrideRepository;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.statistics.RedisStatistics;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clocks of several instances, in place of a server's that refuses {@code TIME}: what they admit at worst where they differ. */
@BothTiers
class InstanceClockTests {

    private static final long SECOND = 1_000_000;

    @RegisterExtension
    static final RedisWithoutTime redis = new RedisWithoutTime();

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    /** Returns the store of an instance whose clock is ahead, or behind. */
    private RateLimitStore instance(long ahead) {
        return TestStores.oneByOne(redis.instance(() -> clock.micros() + ahead), prefix);
    }

    private static CompletableFuture<RateLimitDecision> ask(RateLimitStore store, RateLimit limit, long permits) {
        return store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", permits))))
                .toStage()
                .thenApply(StoreOutcome::decision)
                .toCompletableFuture();
    }

    private static boolean admits(RateLimitStore store, RateLimit limit, long permits) {
        return ask(store, limit, permits).join().allowed();
    }

    /**
     * The numbers of ADR 3. Of calls of an hour, more than the limit admits, one clock admits 7,320. Instances that are ahead
     * take turns with the first when it has used its permits.
     */
    @ParameterizedTest
    @CsvSource({"500000, 0, 7321", "2000000, 1000000, 7324"})
    void anHourAdmitsNoMoreThanWhatComesBackInTheDifference(long ahead, long other, long most) {
        RateLimit limit = TestLimits.tokenBucket("hour", 120, "2/s");
        List<RateLimitStore> instances = List.of(instance(ahead), instance(other), instance(0));
        List<CompletableFuture<RateLimitDecision>> decisions = new ArrayList<>();
        for (int call = 0; call <= 36_000; call++) {
            decisions.add(ask(instances.get(call < 600 ? 2 : call % 3), limit, 1));
            clock.advance(SECOND / 10);
        }
        long admitted =
                decisions.stream().filter(decision -> decision.join().allowed()).count();
        assertThat(admitted).isEqualTo(most);
    }

    /** For any two calls, those between them and they take no more than the capacity and what comes back until then. */
    @Test
    void bucketAdmitsItsCapacityAndWhatComesBackAndNoMoreThanThatOfTheDifference() {
        Random random = TestRandom.create(getClass());
        long above = 0;
        for (int number = 0; number < TestRandom.cases(40); number++) {
            long capacity = TestRandom.logarithmic(random, 1, 1_000);
            long interval = TestRandom.logarithmic(random, 1_000, SECOND);
            RateLimit limit = RateLimit.named("differ" + number)
                    .algorithm(random.nextBoolean() ? Algorithm.TOKEN_BUCKET : Algorithm.LEAKY_BUCKET)
                    .capacity(capacity)
                    .rate(1, Duration.ofNanos(1_000 * interval))
                    .build();
            long difference = TestRandom.logarithmic(random, interval, 10 * SECOND);
            List<RateLimitStore> instances =
                    List.of(instance(0), instance(difference), instance(random.nextLong(difference + 1)));
            List<Long> times = new ArrayList<>();
            List<Long> wanted = new ArrayList<>();
            List<CompletableFuture<RateLimitDecision>> decisions = new ArrayList<>();
            for (int call = 0; call < 100; call++) {
                long permits = TestRandom.logarithmic(random, 1, capacity);
                times.add(clock.micros());
                wanted.add(permits);
                decisions.add(ask(instances.get(call < 20 ? 0 : random.nextInt(3)), limit, permits));
                clock.advance(random.nextInt(4) > 0 ? 0 : random.nextLong(interval * capacity / 2 + 1));
            }
            // In microseconds in which permits come back.
            long used = 0;
            for (int call = 0; call < 100; call++) {
                if (call > 0) {
                    used = Math.max(0, used - (times.get(call) - times.get(call - 1)));
                }
                used += decisions.get(call).join().allowed() ? wanted.get(call) * interval : 0;
                assertThat(used).as(limit + " " + difference).isLessThanOrEqualTo(capacity * interval + difference);
                above += used > capacity * interval ? 1 : 0;
            }
        }
        assertThat(above).isPositive();
    }

    /** The worst: what comes back in the difference is there at once. Then the one behind has to wait as much longer. */
    @Test
    void oneThatIsAheadAdmitsAtOnceWhatComesBackInTheDifferenceAndTheOthersWaitForIt() {
        RateLimit limit = TestLimits.tokenBucket("worst", 100, "10/s");
        RateLimitStore behind = instance(0);
        RateLimitStore ahead = instance(3 * SECOND);
        assertThat(admits(behind, limit, 100)).isTrue();
        assertThat(admits(ahead, limit, 30)).isTrue();
        assertThat(admits(ahead, limit, 1)).isFalse();
        for (int second = 0; second < 3; second++) {
            assertThat(admits(behind, limit, 1)).isFalse();
            clock.advance(SECOND);
        }
        assertThat(admits(behind, limit, 1)).isFalse();
        clock.advance(SECOND / 10);
        assertThat(admits(behind, limit, 1)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_WINDOW_LOG"})
    void windowsAreThoseOfTheClockThatIsAhead(Algorithm algorithm) {
        RateLimit limit = RateLimit.named("window")
                .algorithm(algorithm)
                .capacity(10)
                .rate("10/m")
                .build();
        clock.set(clock.micros() / (60 * SECOND) * 60 * SECOND + 59 * SECOND);
        RateLimitStore behind = instance(0);
        RateLimitStore ahead = instance(5 * SECOND);
        long admitted = 0;
        for (int second = 0; second < 600; second++) {
            admitted += Stream.of(behind, ahead, behind, ahead)
                    .filter(instance -> admits(instance, limit, 1))
                    .count();
            clock.advance(SECOND);
        }
        // Ten minutes and the difference touch twelve minutes of the epoch. A sliding window admits less of calls in
        // bursts.
        assertThat(admitted).isBetween(80L, 120L);
    }

    @Test
    void clockThatIsSetBackGivesNothingBackTwice() {
        RateLimit limit = TestLimits.tokenBucket("back", 10, "1/m");
        RateLimitStore instance = instance(0);
        assertThat(admits(instance, limit, 10)).isTrue();
        clock.advance(Duration.ofMinutes(3));
        assertThat(admits(instance, limit, 3)).isTrue();
        clock.advance(Duration.ofHours(-1));
        for (int minute = 0; minute < 60; minute++) {
            assertThat(admits(instance, limit, 1)).isFalse();
            clock.advance(Duration.ofMinutes(1));
        }
        clock.advance(Duration.ofMinutes(1));
        assertThat(admits(instance, limit, 1)).isTrue();
        assertThat(admits(instance, limit, 1)).isFalse();
    }

    /** So a clock that was set back by hours keeps no caller longer: rejected calls do not prolong it. */
    @Test
    void keyExpiresTenSecondsAfterItsBucketIsFullWhateverTheClocksSay() {
        RateLimit limit = TestLimits.tokenBucket("expiry", 100, "1000/s");
        RateLimitStore instance = instance(0);
        String key = prefix + ":{alice}:expiry";
        assertThat(admits(instance, limit, 100)).isTrue();
        assertThat(expiry(key)).isBetween(5_000L, 10_100L);
        clock.advance(Duration.ofHours(-1));
        for (String both : List.of(key, BothWays.twin(key))) {
            redis.commands().expire(both, Duration.ofSeconds(3));
        }
        assertThat(admits(instance, limit, 1)).isFalse();
        assertThat(expiry(key)).isBetween(1L, 3_000L);
        redis.commands().delete(List.of(key, BothWays.twin(key)));
        assertThat(admits(instance, limit, 100)).isTrue();
    }

    private static long expiry(String key) {
        return redis.commands().getExpire(key, TimeUnit.MILLISECONDS);
    }

    /** The key is blocked until the clock that blocked it says otherwise. */
    @Test
    void blockBeginsByTheClockThatIsAhead() {
        RateLimit limit = TestLimits.blocking(TestLimits.tokenBucket("blocked", 1, "1/s"), Duration.ofSeconds(30));
        RateLimitStore behind = instance(0);
        RateLimitStore ahead = instance(5 * SECOND);
        assertThat(admits(ahead, limit, 1)).isTrue();
        assertThat(admits(ahead, limit, 1)).isFalse();
        clock.advance(Duration.ofSeconds(30));
        assertThat(admits(behind, limit, 1)).isFalse();
        assertThat(admits(ahead, limit, 1)).isTrue();
    }

    /** A bucket of before, by the clock of the server, which was set back. */
    @Test
    void skewOfTheServersClockIsForgotten() {
        RateLimit limit = TestLimits.tokenBucket("skewed", 10, "1/s");
        String key = prefix + ":{alice}:skewed";
        long seen = clock.micros() + 4 * SECOND;
        String state = "T10@1/s:10:" + (seen - SECOND / 2) + " +7000000:" + seen + ":0";
        for (String both : List.of(key, BothWays.twin(key))) {
            redis.commands().opsForValue().set(both, state, Duration.ofMinutes(1));
        }
        assertThat(admits(instance(0), limit, 1)).isFalse();
        clock.advance(Duration.ofSeconds(5));
        assertThat(admits(instance(0), limit, 1)).isTrue();
        assertThat(redis.commands().opsForValue().get(key))
                .startsWith("T10@1/s:10:")
                .doesNotContain("+");
    }

    /** Overrides and figures are scripts of their own. */
    @Test
    void scriptsBesideTheOneThatDecidesHaveTheTimeOfTheInstance() {
        RedisConnector connector = new RedisConnector(
                        redis.connections(), Duration.ofSeconds(10), RateLimitScript.load(), null)
                .by(RedisClock.INSTANCE);
        try {
            long before = nowMicros();
            RedisOverrideRepository overrides =
                    RedisOverrideRepository.of(connector, prefix, new RedisChangeChannel(connector, prefix));
            await("the first connection")
                    .ignoreExceptions()
                    .until(() -> join(overrides.read()).overrides().isEmpty());
            RateLimitOverride override = RateLimitOverride.builder()
                    .capacity(5L)
                    .duration(Duration.ofMinutes(1))
                    .build();
            OverrideSnapshot changed = join(overrides.write("quotes", override, null, RateLimitAdmin.ANY_VERSION));
            assertThat(changed.result()).isEqualTo(OverrideSnapshot.Result.CHANGED);
            assertThat(changed.nowMicros()).isBetween(before, nowMicros());
            assertThat(join(overrides.read()).overrides().get("quotes").attributes())
                    .isEqualTo(override);

            SharedStatistics figures = new RedisStatistics(connector, prefix);
            InstanceFigures instance = new InstanceFigures(
                    "a", "a", Instant.EPOCH, Instant.EPOCH, new InstanceState("shared", null, List.of()), Map.of());
            assertThat(join(figures.publish(new Publication("a", instance, 0, before, before, new TreeMap<>())))
                            .instances())
                    .isEqualTo(1);
            assertThat(join(figures.read(0, 0, null)).instances()).hasSize(1);
            join(figures.publishKeys("a", Map.of("quotes", new KeyReport(List.of(), 0))));
            assertThat(join(figures.readKeys("quotes"))).containsKey("a");
        } finally {
            connector.destroy();
        }
    }

    private static long nowMicros() {
        return System.currentTimeMillis() * 1_000;
    }

    private static <T> T join(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}

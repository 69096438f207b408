package io.ratelimit.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The script is told of calendar windows around the server's time, which only the server knows. */
class CalendarCallsTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RateLimit month = TestLimits.calendarWindow("month", "10/month", "Europe/Berlin");

    private final RateLimit day = TestLimits.calendarWindow("day", "5/day", "Pacific/Apia");

    private final TestClock clock = new TestClock();

    private final AtomicInteger scripts = new AtomicInteger();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimitStore store = TestStores.over(counting(redis.executorAt(clock)), prefix);

    private RateLimitScriptExecutor counting(RateLimitScriptExecutor executor) {
        return new RateLimitScriptExecutor() {
            @Override
            public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
                scripts.incrementAndGet();
                return executor.execute(keys, arguments);
            }
        };
    }

    private RateLimitDecision take(RateLimit limit, String key) {
        return store.decide(new Charge(limit, key, 1)).await().decision();
    }

    private int scriptsOf(Runnable work) {
        int before = scripts.get();
        work.run();
        return scripts.get() - before;
    }

    private void setClock(String time) {
        clock.set(Instant.parse(time).getEpochSecond() * 1_000_000);
    }

    @Test
    void oneCallInTwoWindowsIsSentTwice() {
        setClock("2026-01-15T00:00:00Z");
        assertThat(scriptsOf(() -> take(month, "alice"))).isEqualTo(2);
        assertThat(scriptsOf(() -> take(month, "alice"))).isEqualTo(1);
        assertThat(scriptsOf(() -> take(month, "bob"))).isEqualTo(1);
        setClock("2026-02-15T00:00:00Z");
        assertThat(scriptsOf(() -> take(month, "alice"))).isEqualTo(1);
        setClock("2026-03-15T00:00:00Z");
        assertThat(scriptsOf(() -> take(month, "alice"))).isEqualTo(2);
        assertThat(take(month, "alice").remaining()).isEqualTo(8);
    }

    /** Nothing has to be known of the calendar as long as the window is open. */
    @Test
    void otherInstanceFindsTheWindowOpen() {
        take(month, "alice");
        RateLimitStore other = TestStores.over(counting(redis.executorAt(clock)), prefix);
        assertThat(scriptsOf(() -> other.decide(new Charge(month, "alice", 1)).await()))
                .isEqualTo(1);
        assertThat(scriptsOf(() -> other.decide(new Charge(month, "bob", 1)).await()))
                .isEqualTo(2);
    }

    /** Whatever year the server thinks it is, this JVM's clock is not asked. */
    @Test
    void serverMayBeInAnotherCentury() {
        for (String time : List.of("1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2090-07-01T00:00:00Z")) {
            setClock(time);
            assertThat(take(month, time).remaining()).isEqualTo(9);
            assertThat(take(day, time).resetAfter()).isLessThanOrEqualTo(Duration.ofHours(25));
        }
    }

    @Test
    void callsThatAreSentTogetherAreDecidedOnceEach() {
        List<CompletableFuture<StoreOutcome>> outcomes = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            clock.advance(i == 30 ? Duration.ofDays(70) : Duration.ZERO);
            outcomes.add(store.decide(
                            StoreRequest.of(List.of(new Charge(month, "alice", 1), new Charge(day, "key" + i, 1))))
                    .toStage()
                    .toCompletableFuture());
        }
        long allowed = outcomes.stream()
                .filter(outcome -> outcome.join().decisions().get(0).allowed())
                .count();
        assertThat(allowed).isBetween(10L, 20L);
        assertThat(store.decide(StoreRequest.peek(new Charge(month, "alice", 1)))
                        .await()
                        .decision()
                        .allowed())
                .isFalse();
    }

    @Test
    void leasesLooksAndChangesOfOperatorsNeedNoWindowBefore() {
        StoreOutcome lease = store.decide(StoreRequest.lease(new Charge(month, "leasing", 1), 4))
                .await();
        assertThat(lease.lease().permits()).isEqualTo(4);
        assertThat(lease.decision().remaining()).isEqualTo(5);
        lease.lease().unused().refund(4).toCompletableFuture().join();
        assertThat(store.decide(StoreRequest.peek(new Charge(month, "leasing", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(9);
        RateLimit other = TestLimits.calendarWindow("other", "10/year", "UTC");
        assertThat(store.decide(StoreRequest.peek(new Charge(other, "alice", 3)))
                        .await()
                        .decision()
                        .allowed())
                .isTrue();
        RateLimit changed = TestLimits.calendarWindow("changed", "10/week", "UTC");
        assertThat(store.change(changed, "alice", BucketChange.block(Duration.ofMinutes(1)))
                        .toCompletableFuture()
                        .join()
                        .isBlocked())
                .isTrue();
    }

    @Test
    void bucketSaysWhenItsWindowEnds() {
        setClock("2026-11-20T00:00:00Z");
        store.decide(new Charge(TestLimits.calendarWindow("text", "10/month", "UTC"), "alice", 3))
                .await();
        assertThat(redis.commands().opsForValue().get(prefix + ":{alice}:text"))
                .isEqualTo("C10/month:3:1793491200000000:1796083200000000");
    }

    /** A program in front of Redis, or a script that is not the starter's. */
    @Test
    void serverThatNeverFindsItsTimeIsAFailureOfTheStore() {
        AtomicInteger asked = new AtomicInteger();
        RateLimitStore lost = TestStores.over(
                new RateLimitScriptExecutor() {
                    @Override
                    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
                        asked.incrementAndGet();
                        return CompletableFuture.completedFuture(List.of(-2L, clock.micros(), -1L, -1L));
                    }
                },
                "lost");
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> lost.decide(new Charge(month, "alice", 1)).await())
                .satisfies(failure -> assertThat(failure.getReason()).isEqualTo(Reason.ERROR));
        assertThat(asked).hasValueLessThan(10);
    }
}

package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.store.HoldingInstance;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The clock of Redis jumps while calls of living instances hold permits. Their own clocks go on as they do. */
@BothTiers
class HoldersAtClockJumpsTests {

    private static final int CAPACITY = 5;

    private static final Duration THIRD = Duration.ofSeconds(10);

    private static final Duration TWO_THIRDS = Duration.ofSeconds(20);

    private static final Duration HOLD = Duration.ofSeconds(30);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    private final RateLimit limit = TestLimits.concurrency("exports", CAPACITY);

    private final String prefix = RedisUnderTest.newPrefix();

    private final HoldingInstance one = new HoldingInstance(redis, clock, prefix);

    private final HoldingInstance other = new HoldingInstance(redis, clock, prefix);

    private StoreOutcome enter(HoldingInstance instance, long permits) {
        return instance.enter(new Charge(limit, "alice", permits));
    }

    private boolean isAdmitted(HoldingInstance instance) {
        return enter(instance, 1).decision().allowed();
    }

    private long free() {
        return other.store
                .decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                .await()
                .decision()
                .remaining();
    }

    /** Time passes for Redis and all instances. */
    private void pass(Duration time) {
        clock.advance(time);
        one.thread.pass(time);
        other.thread.pass(time);
    }

    /** The permits of a living instance have at least two thirds of the hold left. */
    @Test
    void jumpForwardByLessThanTwoThirdsOfTheHoldFreesNothing() {
        enter(one, CAPACITY);
        for (int i = 0; i < 5; i++) {
            pass(THIRD.minusNanos(2_000));
            clock.advance(TWO_THIRDS.minusNanos(1_000));
            assertThat(isAdmitted(other)).isFalse();
            pass(Duration.ofNanos(2_000));
            assertThat(isAdmitted(other)).isFalse();
        }
        assertThat(one.lostPermits()).isZero();
    }

    @Test
    void jumpForwardByTheHoldFreesAllPermitsUntilTheNextRenewal() {
        StoreOutcome running = enter(one, CAPACITY);
        clock.advance(HOLD);
        StoreOutcome next = enter(other, 2);
        assertThat(next.decision().allowed()).isTrue();
        pass(THIRD);
        assertThat(one.lostPermits()).isEqualTo(CAPACITY);
        assertThat(other.lostPermits()).isZero();
        assertThat(isAdmitted(other)).isFalse();
        HoldingInstance.release(next);
        assertThat(isAdmitted(other)).isFalse();
        HoldingInstance.release(running);
        assertThat(free()).isEqualTo(CAPACITY);
    }

    /** When it is back, nothing is held for longer than that, whether it was taken before or at the wrong time. */
    @Test
    void jumpForwardAndBackFreesNothingOnceMore() {
        StoreOutcome before = enter(one, 2);
        clock.advance(Duration.ofDays(1));
        StoreOutcome meanwhile = enter(other, 3);
        pass(THIRD);
        clock.advance(Duration.ofDays(-1));
        for (int i = 0; i < 6; i++) {
            assertThat(isAdmitted(one)).isFalse();
            assertThat(isAdmitted(other)).isFalse();
            pass(THIRD);
        }
        assertThat(one.lostPermits()).isEqualTo(2);
        HoldingInstance.release(before);
        assertThat(free()).isEqualTo(2);
        // The other instance dies.
        clock.advance(HOLD.minusNanos(1_000));
        assertThat(free()).isEqualTo(2);
        clock.advance(1);
        assertThat(free()).isEqualTo(CAPACITY);
        HoldingInstance.release(meanwhile);
        assertThat(free()).isEqualTo(CAPACITY);
    }

    @Test
    void callsNeverHoldMoreThanTheCapacityHoweverOftenTheClockIsSetBack() {
        List<StoreOutcome> running = new ArrayList<>();
        int most = 0;
        for (int step = 0; step < 20 * TestRandom.cases(1_000); step++) {
            HoldingInstance instance = random.nextBoolean() ? one : other;
            switch (random.nextInt(10)) {
                case 0 -> clock.advance(-TestRandom.logarithmic(random, 1, TestClock.inMicros(Duration.ofHours(1))));
                case 1, 2 -> pass(Duration.ofMillis(random.nextLong(THIRD.toMillis())));
                case 3, 4, 5 -> {
                    if (!running.isEmpty()) {
                        HoldingInstance.release(running.remove(random.nextInt(running.size())));
                    }
                }
                default ->
                    Stream.of(enter(instance, 1 + random.nextInt(2)))
                            .filter(outcome -> outcome.decision().allowed())
                            .forEach(running::add);
            }
            int held = running.stream()
                    .mapToInt(outcome -> (int) outcome.charges().get(0).permits())
                    .sum();
            most = Math.max(most, held);
            assertThat(free()).isEqualTo(CAPACITY - held);
        }
        assertThat(most).isEqualTo(CAPACITY);
        assertThat(one.lostPermits() + other.lostPermits()).isZero();
    }
}

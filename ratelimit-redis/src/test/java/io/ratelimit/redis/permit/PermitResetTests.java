package io.ratelimit.redis.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.store.HoldingInstance;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A reset ends the holds of all instances, whether or not they are told of it. */
class PermitResetTests {

    private static final Duration THIRD = Duration.ofSeconds(10);

    private static final String ALICE = KeyDigest.of("alice");

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimit limit = TestLimits.concurrency("exports", 5);

    private final HoldingInstance one = new HoldingInstance(redis, clock, prefix);

    private final HoldingInstance other = new HoldingInstance(redis, clock, prefix);

    private StoreOutcome enter(HoldingInstance instance, String key) {
        return instance.enter(new Charge(limit, key, 1));
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

    @Test
    void renewalDoesNotUndoAReset() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            StoreOutcome mine = enter(one, "alice");
            StoreOutcome theirs = enter(other, "alice");
            one.store
                    .change(limit, "alice", BucketChange.RESET)
                    .toCompletableFuture()
                    .join();
            assertThat(free()).isEqualTo(5);
            for (int i = 0; i < 4; i++) {
                pass(THIRD);
                assertThat(free()).isEqualTo(5);
            }
            StoreOutcome next = enter(one, "alice");
            HoldingInstance.release(mine);
            HoldingInstance.release(theirs);
            assertThat(free()).isEqualTo(4);
            HoldingInstance.release(next);
            assertThat(free()).isEqualTo(5);
            assertThat(log.text()).isEmpty();
        }
        assertThat(one.lost).isEmpty();
        assertThat(other.lost).isEmpty();
        assertThat(redis.commands().keys(prefix + ":*held")).isEmpty();
    }

    @Test
    void instanceThatResetsCountsItsHoldsNoMore() {
        enter(one, "alice");
        enter(one, "bob");
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(one.store.heldPermits(limit)).isEqualTo(1);
        enter(one, "alice");
        assertThat(one.store.heldPermits(limit)).isEqualTo(2);
    }

    @Test
    void instanceThatIsToldCountsItsHoldsNoMore() {
        enter(other, "alice");
        enter(other, "bob");
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        other.store.forget("exports", ALICE);
        assertThat(other.store.heldPermits(limit)).isEqualTo(1);
    }

    @Test
    void instanceThatIsNotToldCountsItsHoldsUntilTheNextRenewal() {
        enter(other, "alice");
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(other.store.heldPermits(limit)).isEqualTo(1);
        pass(THIRD);
        assertThat(other.store.heldPermits(limit)).isZero();
        other.scripts.clear();
        pass(THIRD.multipliedBy(3));
        assertThat(other.scripts).isEmpty();
    }

    /** The message of the reset comes after a call that has taken permits since. */
    @Test
    void lateMessageEndsNoHoldThatBeganAfterTheReset() {
        enter(other, "alice");
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        StoreOutcome next = enter(other, "alice");
        other.store.forget("exports", ALICE);
        assertThat(other.store.heldPermits(limit)).isEqualTo(1);
        pass(THIRD.multipliedBy(4));
        assertThat(free()).isEqualTo(4);
        HoldingInstance.release(next);
        assertThat(free()).isEqualTo(5);
    }

    /** A refresh has changed the limit between the calls. */
    @Test
    void messageRenewsEachHoldForItsOwnTime() {
        RateLimit longer = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(5)
                .hold(Duration.ofMinutes(5))
                .build();
        enter(other, "alice");
        other.enter(new Charge(longer, "alice", 1));
        other.store.forget("exports", ALICE);
        clock.advance(Duration.ofSeconds(30));
        assertThat(free()).isEqualTo(4);
        clock.advance(Duration.ofSeconds(270));
        assertThat(free()).isEqualTo(5);
    }

    /** The reply of the call is on its way when the bucket is reset. */
    @Test
    void resetEndsAHoldWhoseCallIsNotDecidedYet() {
        other.late = true;
        CompletableFuture<StoreOutcome> entered = other.enterAsync(new Charge(limit, "alice", 1));
        other.late = false;
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        other.answer();
        assertThat(entered).isCompleted();
        pass(THIRD);
        assertThat(free()).isEqualTo(5);
        assertThat(other.store.heldPermits(limit)).isZero();
    }

    @Test
    void resetIsRememberedForInstancesThatCannotReachRedis() {
        enter(other, "alice");
        other.unreachable = true;
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        pass(Duration.ofSeconds(200));
        other.unreachable = false;
        pass(THIRD);
        assertThat(free()).isEqualTo(5);
        assertThat(other.lost).isEmpty();
        assertThat(other.store.heldPermits(limit)).isZero();
    }

    @Test
    void resetIsForgottenAtLast() {
        enter(other, "alice");
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(redis.commands().keys(prefix + ":*held")).hasSize(1);
        clock.advance(Duration.ofMinutes(5));
        assertThat(free()).isEqualTo(5);
        assertThat(redis.commands().keys(prefix + ":*held")).isEmpty();
    }

    @Test
    void permitsThatRedisHasLostSinceTheResetAreCountedAgain() {
        enter(one, "alice");
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        enter(one, "alice");
        redis.commands().delete(redis.commands().keys("*" + prefix + "*"));
        pass(THIRD);
        assertThat(free()).isEqualTo(4);
        assertThat(one.lost).containsExactly(1L);
    }

    /** More than a command of the script reads, some of them taken after the reset. */
    @Test
    void renewalTellsWhichOfManyHoldsWereReset() {
        RateLimit many = TestLimits.concurrency("many", 1_000);
        IntStream.range(0, 250).forEach(i -> other.enter(new Charge(many, i % 2 == 0 ? "alice" : "bob", 2)));
        one.store
                .change(many, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        IntStream.range(0, 130).forEach(i -> other.enter(new Charge(many, "alice", 1)));
        pass(THIRD);
        assertThat(other.store.heldPermits(many)).isEqualTo(380);
        assertThat(one.store
                        .decide(StoreRequest.peek(new Charge(many, "alice", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(870);
        assertThat(one.store
                        .decide(StoreRequest.peek(new Charge(many, "bob", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(750);
        assertThat(other.lost).isEmpty();
    }

    @Test
    void callsThatWaitAreToldOfAReset() {
        RateLimit waiting = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(5)
                .maxWait(Duration.ofSeconds(1))
                .build();
        one.enter(new Charge(waiting, "alice", 5));
        one.store
                .change(waiting, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(one.told).isEmpty();
        one.enter(new Charge(waiting, "alice", 5));
        other.enter(new Charge(waiting, "alice", 1));
        one.store
                .change(waiting, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(one.told).containsExactly("exports alice");
    }

    @Test
    void resetRemovesAForeignValue() {
        String name = new String(new BucketNaming(prefix).name(limit, "alice"), StandardCharsets.UTF_8);
        redis.commands().opsForValue().set(name, "foreign");
        one.store
                .change(limit, "alice", BucketChange.RESET)
                .toCompletableFuture()
                .join();
        assertThat(free()).isEqualTo(5);
    }
}

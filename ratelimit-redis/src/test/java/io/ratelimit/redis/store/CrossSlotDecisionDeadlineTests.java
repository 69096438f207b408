package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.ClusterSlot;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call of several slots has one deadline, however many scripts it takes. */
@LongRunning
@Timeout(180)
class CrossSlotDecisionDeadlineTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private static final List<Long> SEEN = List.of(10L, 0L, 0L, 0L);

    private static final List<Long> CHARGED = List.of(9L, 0L, 0L, 0L, 1L, 1L, 0L, 1L);

    private static final List<Long> REJECTED = List.of(0L, 0L, 1_000L, 1_000L, 0L, 0L, 0L, 0L);

    private final RateLimit limit = TestLimits.tokenBucket("limit", 10, "10/h");

    private final List<Charge> charges = Stream.of("alice", "bob", "carol")
            .sorted(Comparator.comparingInt(this::slot))
            .map(key -> new Charge(limit, key, 1))
            .toList();

    private final ThreeServers servers = new ThreeServers();

    private final GuardedRedis redis = new GuardedRedis(servers, TIMEOUT, "test");

    private final RateLimitStore store = new RedisRateLimitStore(redis, "test");

    @AfterEach
    void stop() {
        redis.destroy();
    }

    @Test
    void allAreChargedInTheOrderOfTheirSlots() {
        assertThat(store.decide(StoreRequest.of(charges)).await().decisions()).allMatch(RateLimitDecision::allowed);
        assertThat(servers.charged).containsExactly(1, 2, 3);
        assertThat(servers.refunded).isEmpty();
    }

    @Test
    void nothingMoreIsChargedAfterTheDeadlineAndWhatWasIsRefunded() {
        servers.charge = slot -> slot == 2 ? new CompletableFuture<>() : CompletableFuture.completedFuture(CHARGED);
        assertThat(failure().getReason()).isEqualTo(Reason.TIMEOUT);
        await().untilAsserted(() -> assertThat(servers.refunded).containsExactly(1));
        assertThat(servers.charged).containsExactly(1, 2);
    }

    @Test
    void callerDoesNotWaitForWhatIsRefunded() {
        CompletableFuture<List<Long>> back = new CompletableFuture<>();
        servers.refund = slot -> back;
        servers.charge = slot -> slot == 3 ? new CompletableFuture<>() : CompletableFuture.completedFuture(CHARGED);
        assertThat(failure().getReason()).isEqualTo(Reason.TIMEOUT);
        await().untilAsserted(() -> assertThat(servers.refunded).containsExactlyInAnyOrder(1, 2));
        assertThat(back).isNotDone();
    }

    /** What is not refunded counts as lost. */
    @Test
    void callIsRejectedThoughARefundFails() {
        servers.refund = slot -> CompletableFuture.failedFuture(new TimeoutException());
        servers.charge = slot -> CompletableFuture.completedFuture(slot == 3 ? REJECTED : CHARGED);
        assertThat(store.decide(StoreRequest.of(charges)).await().isRejected()).isTrue();
        assertThat(servers.refunded).containsExactlyInAnyOrder(1, 2);
    }

    /** Each of them alone takes less than half of the time. */
    @Test
    void scriptsShareTheTime() {
        servers.charge = slot -> new CompletableFuture<List<Long>>()
                .completeOnTimeout(CHARGED, TIMEOUT.toMillis() * 2 / 5, TimeUnit.MILLISECONDS);
        assertThat(failure().getReason()).isEqualTo(Reason.TIMEOUT);
    }

    @Test
    void failureAtTheLookChargesNothing() {
        servers.look = slot -> slot == 1
                ? CompletableFuture.failedFuture(new IllegalStateException("LOADING"))
                : CompletableFuture.completedFuture(SEEN);
        assertThat(failure().getReason()).isEqualTo(Reason.LOADING);
        assertThat(servers.charged).isEmpty();
    }

    /** The calls themselves are answered. */
    @Test
    void refundsThatFailNeverOpenTheCircuitBreaker() {
        servers.refund = slot -> CompletableFuture.failedFuture(new TimeoutException());
        servers.charge = slot -> slot == 2
                ? CompletableFuture.failedFuture(new IllegalStateException("WRONGTYPE Operation against a key"))
                : CompletableFuture.completedFuture(CHARGED);
        for (int i = 0; i < 30; i++) {
            assertThat(failure().getReason()).isEqualTo(Reason.FOREIGN_VALUE);
        }
        assertThat(servers.refunded).hasSize(30).containsOnly(1);
    }

    private RateLimitStoreException failure() {
        return catchThrowableOfType(
                RateLimitStoreException.class,
                () -> store.decide(StoreRequest.of(charges)).await().decisions());
    }

    private int slot(String key) {
        return ClusterSlot.of(new BucketNaming("test").name(limit, key));
    }

    /** One for each slot, numbered in the order in which they are charged. */
    private final class ThreeServers implements RateLimitScriptExecutor, RedisTopology {

        private final List<Integer> charged = new CopyOnWriteArrayList<>();

        private final List<Integer> refunded = new CopyOnWriteArrayList<>();

        private IntFunction<CompletableFuture<List<Long>>> look = slot -> CompletableFuture.completedFuture(SEEN);

        private IntFunction<CompletableFuture<List<Long>>> charge = slot -> CompletableFuture.completedFuture(CHARGED);

        private IntFunction<CompletableFuture<List<Long>>> refund =
                slot -> CompletableFuture.completedFuture(List.of());

        @Override
        public RedisTopology topology() {
            return this;
        }

        @Override
        public boolean isClustered() {
            return true;
        }

        @Override
        public String serverOf(int slot) {
            return "Redis " + number(slot);
        }

        private int number(int slot) {
            return (int) charges.stream()
                    .filter(other -> slot(String.valueOf(other.key())) <= slot)
                    .count();
        }

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            int slot = number(ClusterSlot.of(keys.get(0)));
            byte call = arguments[0][0];
            if (call == ScriptCall.LOOK.code()) {
                return look.apply(slot);
            }
            if (call == ScriptCall.CHARGE_WITH_RECEIPTS.code()) {
                charged.add(slot);
                return charge.apply(slot);
            }
            refunded.add(slot);
            return refund.apply(slot);
        }
    }
}

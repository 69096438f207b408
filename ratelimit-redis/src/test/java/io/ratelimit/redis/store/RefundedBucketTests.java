package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.TestExecutors;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a refund leaves in Redis, and for how long. */
class RefundedBucketTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final long MINUTE = 60_000_000;

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimit limit =
            RateLimit.named("quotes").capacity(20).rate("1/m").build();

    private RedisRateLimitStore store = TestStores.over(redis.executorAt(clock), prefix);

    private Refund charge(long permits) {
        Refund refund = store.decide(StoreRequest.refundable(List.of(new Charge(limit, "alice", permits))))
                .toStage()
                .toCompletableFuture()
                .join()
                .refund();
        return charges ->
                refund.refund(List.of(new Charge(limit, "alice", permits))).thenAccept(done -> {});
    }

    private static void undo(Refund charge) {
        charge.refund(List.of()).toCompletableFuture().join();
    }

    private String key() {
        return redis.commands().keys(prefix + "*").iterator().next();
    }

    private String value() {
        return redis.commands().opsForValue().get(key());
    }

    @Test
    void chargeThatWasTheLastLeavesNoGap() {
        charge(2);
        Refund last = charge(3);
        long now = clock.micros();
        undo(last);
        assertThat(value()).isEqualTo("T20@1/m:2:" + now);
    }

    @Test
    void gapsAreStoredUntilTheLastReceiptWithATimeWouldBeBack() {
        long start = clock.micros();
        Refund first = charge(1);
        charge(1);
        Refund third = charge(2);
        charge(1);
        undo(third);
        assertThat(value()).isEqualTo("T20@1/m:3:" + start + "*5:" + start + ":0:0:2:2");
        undo(first);
        assertThat(value()).isEqualTo("T20@1/m:2:" + start + "*5:" + start + ":0:1:1:2");
        clock.advance(3 * MINUTE);
        charge(1);
        assertThat(value()).isEqualTo("T20@1/m:1:" + clock.micros() + "*5:" + start + ":0:5");
        clock.advance(2 * MINUTE);
        charge(1);
        assertThat(value()).isEqualTo("T20@1/m:1:" + clock.micros());
    }

    /** By the server's clock. A window with a debt is kept for as many windows as it takes. */
    @Test
    void keyOfAWindowInDebtExpiresWhenTheDebtIsBack() {
        store = TestStores.over(
                TestExecutors.lettuce(redis.connections(), RateLimitScript.load(), RateLimitLibrary.load()), prefix);
        RateLimit window = RateLimit.named("window")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("10/m")
                .build();
        StoreOutcome taken = store.decide(StoreRequest.refundable(List.of(new Charge(window, "alice", 5))))
                .await();
        store.charge(new Charge(window, "alice", 20)).toCompletableFuture().join();
        assertThat(redis.commands().getExpire(key(), TimeUnit.SECONDS)).isBetween(175L, 180L);
        taken.refund()
                .refund(Map.of(new Charge(window, "alice", 5), 5L))
                .toCompletableFuture()
                .join();
        assertThat(redis.commands().getExpire(key(), TimeUnit.SECONDS)).isBetween(115L, 120L);
    }

    /** By the server's clock. */
    @Test
    void keyExpiresWhenTheBucketWouldHaveBeenFullWithoutTheRefund() {
        store = TestStores.over(
                TestExecutors.lettuce(redis.connections(), RateLimitScript.load(), RateLimitLibrary.load()), prefix);
        Refund first = charge(10);
        charge(1);
        undo(first);
        assertThat(redis.commands().getExpire(key(), TimeUnit.SECONDS)).isBetween(600L, 660L);
    }
}

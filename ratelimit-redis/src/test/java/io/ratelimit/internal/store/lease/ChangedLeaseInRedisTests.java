package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Leases of a limit that changes are refunded to a bucket that has another rule by then. */
@Timeout(180)
class ChangedLeaseInRedisTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private RedisConnector connector;

    private GuardedRedis guarded;

    private RateLimitStore shared;

    private LeasingRateLimitStore store;

    @BeforeEach
    void connect() {
        connector = new RedisConnector(redis.connections(), TIMEOUT, RateLimitScript.load(), RateLimitLibrary.load());
        String prefix = RedisUnderTest.newPrefix();
        guarded = new GuardedRedis(connector, TIMEOUT, prefix);
        shared = new RedisRateLimitStore(guarded, prefix);
        // Refunds when it is told to.
        store = new LeasingRateLimitStore(
                shared, TIMEOUT, System::nanoTime, new LeaseThread(new TestClock()), Runnable::run, 10_000);
    }

    @AfterEach
    void close() throws Exception {
        store.close();
        guarded.destroy();
        connector.destroy();
    }

    private static RateLimit limit(LimitKind kind) {
        return RateLimit.named("quotes")
                .algorithm(kind.algorithm())
                .refill(kind.refill())
                .rate("1000/d")
                .lease(100)
                .build();
    }

    private boolean take(RateLimit limit) {
        return store.decide(new Charge(limit, "alice", 1)).await().decision().allowed();
    }

    private long used(RateLimit limit) {
        return limit.capacity()
                - shared.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                        .await()
                        .decision()
                        .remaining();
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "TOKEN_BUCKET_BY_INTERVALS", "FIXED_WINDOW", "SLIDING_WINDOW"})
    void usedIsWhatCallsTook(LimitKind kind) {
        RateLimit former = limit(kind);
        lease(former);
        store.retire("quotes");
        await().until(() -> used(former) == 5);
        RateLimit next = changed(former);
        assertThat(take(next)).isTrue();
        assertThat(used(next)).isEqualTo(6);
        assertThat(used(former)).isEqualTo(6);
    }

    /** Six were taken. Another rule that has adopted the count returns the others, too, unless its window has begun since. */
    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "TOKEN_BUCKET_BY_INTERVALS", "FIXED_WINDOW", "SLIDING_WINDOW"})
    void refundAfterTheFirstCallByTheNextRuleIsNotTooMuch(LimitKind kind) {
        RateLimit former = limit(kind);
        lease(former);
        RateLimit next = changed(former);
        assertThat(take(next)).isTrue();
        long charged = used(next);
        store.retire("quotes");
        await().until(() -> used(former) < charged);
        assertThat(used(former)).isGreaterThanOrEqualTo(6);
        assertThat(used(next)).isIn(6L, charged);
    }

    private static RateLimit changed(RateLimit limit) {
        return limit.definition()
                .with(RateLimitOverride.builder().rate("2000/d").build());
    }

    private void lease(RateLimit limit) {
        for (int i = 0; i < 5; i++) {
            assertThat(take(limit)).isTrue();
        }
        assertThat(used(limit)).isGreaterThan(6);
    }
}

package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.store.RedisRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What giving idle leases back costs Redis, and the callers. */
@Timeout(300)
@LongRunning
class IdleLeasesInRedisTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RateLimit limit = LeasingInstances.window("quotes", 1_000, 100);

    private RedisConnector connector;

    private CountedScripts scripts;

    private GuardedRedis guarded;

    private RateLimitStore shared;

    private LeasingRateLimitStore store;

    @BeforeEach
    void connect() {
        connector = new RedisConnector(redis.connections(), TIMEOUT, RateLimitScript.load(), RateLimitLibrary.load());
        scripts = new CountedScripts(connector);
        String prefix = RedisUnderTest.newPrefix();
        guarded = new GuardedRedis(scripts, TIMEOUT, prefix);
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

    /** Each keeps three permits in advance, of seven calls. */
    private void lease(int keys) {
        IntStream.range(0, keys).forEach(key -> IntStream.range(0, 4).forEach(call -> take(key)));
    }

    private boolean take(int key) {
        return store.decide(new Charge(limit, "key-" + key, 1))
                .await()
                .decision()
                .allowed();
    }

    private long used(int key) {
        return limit.capacity()
                - shared.decide(StoreRequest.peek(new Charge(limit, "key-" + key, 0)))
                        .await()
                        .decision()
                        .remaining();
    }

    @Test
    void idleLeasesOfManyBucketsGoBackTogether() {
        lease(600);
        assertThat(used(0)).isGreaterThan(4);
        store.refundAll(Duration.ofSeconds(20));
        assertThat(scripts.refunds.sum()).isEqualTo(3);
        assertThat(IntStream.range(0, 600)).allMatch(key -> used(key) == 4);
    }

    @Test
    void leasesOfAChangedLimitGoBackAtOnceAsFarAsCallersHavePaidForIt() {
        lease(600);
        store.retire("quotes");
        assertThat(scripts.refunds.sum()).isEqualTo(1);
        store.refundIdle();
        assertThat(scripts.refunds.sum()).isEqualTo(3);
        assertThat(IntStream.range(0, 600)).allMatch(key -> used(key) == 4);
    }

    /** A hundredth of what callers send: the others go on being used here. */
    @Test
    void noMoreGoesBackThanCallersHavePaidFor() {
        IntStream.range(0, 30).forEach(key -> take(key % 2));
        long sent = scripts.ofCallers.sum();
        for (int i = 0; i < 10; i++) {
            store.refundIdle();
            take(i % 2);
            store.refundIdle();
            store.refundIdle();
        }
        assertThat(scripts.refunds.sum()).isEqualTo(1 + sent / 100);
    }

    @Test
    void callersOfManyKeysNeverFail() throws Exception {
        store = new LeasingRateLimitStore(shared, TIMEOUT);
        int keys = 40_000;
        AtomicInteger next = new AtomicInteger();
        LongAdder failed = new LongAdder();
        List<Thread> callers = IntStream.range(0, 16)
                .mapToObj(caller -> new Thread(() -> {
                    for (int i = next.getAndIncrement(); i < 4 * keys; i = next.getAndIncrement()) {
                        try {
                            take(i / 64 * 16 % keys + i % 16);
                        } catch (RateLimitStoreException ex) {
                            failed.increment();
                        }
                    }
                }))
                .toList();
        callers.forEach(Thread::start);
        for (Thread caller : callers) {
            caller.join();
        }
        System.out.println(scripts.ofCallers.sum() + " scripts of callers, " + scripts.refunds.sum() + " refunds of "
                + scripts.buckets.sum() + " buckets");
        assertThat(failed.sum()).isZero();
        assertThat(scripts.refunds.sum()).isLessThanOrEqualTo(1 + scripts.ofCallers.sum() / 100);
    }

    private static final class CountedScripts implements RateLimitScriptExecutor {

        private final RateLimitScriptExecutor executor;

        private final LongAdder ofCallers = new LongAdder();

        private final LongAdder refunds = new LongAdder();

        private final LongAdder buckets = new LongAdder();

        CountedScripts(RateLimitScriptExecutor executor) {
            this.executor = executor;
        }

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            if (arguments[0][0] == '3') {
                refunds.increment();
                buckets.add(keys.size());
            } else {
                ofCallers.increment();
            }
            return executor.execute(keys, arguments);
        }
    }
}

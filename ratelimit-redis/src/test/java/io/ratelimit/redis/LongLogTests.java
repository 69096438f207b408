package io.ratelimit.redis;

import static io.ratelimit.testing.LimitKind.SLIDING_WINDOW_LOG;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Entries in the middle of a log of many blocks are refunded: it agrees with the one in memory. */
@LongRunning
class LongLogTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final int HISTORIES = 10;

    private static final int STEPS = 400;

    private static final long WINDOW = 1_000_000;

    /** Of two blocks one after the other. */
    private static final int LEAST_ENTRIES = 17;

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimitStore shared =
            TestStores.over(new FakeTimeScriptExecutor(redis.connections(), clock), prefix);

    private final RateLimitStore memory = new InMemoryRateLimitStore(clock, 1_000);

    /** A call that is charged in both stores, until it is refunded. */
    private record Taken(Charge charge, Refund shared, Refund memory) {

        void refund() {
            List<Charge> charges = List.of(charge);
            shared.refund(charges).toCompletableFuture().join();
            memory.refund(charges).toCompletableFuture().join();
        }
    }

    @Test
    void storesAgreeWhileEntriesAreRefundedAnywhere() {
        for (int history = 0; history < HISTORIES; history++) {
            String name = "log" + history;
            RateLimit log = SLIDING_WINDOW_LOG.limit(name, 300, "300/s");
            // Of the same bucket, with a shorter window and a longer one.
            RateLimit[] limits = {
                log,
                log,
                log,
                SLIDING_WINDOW_LOG.limit(name, 200, "800/s"),
                SLIDING_WINDOW_LOG.limit(name, 400, "200/s")
            };
            List<Taken> taken = new ArrayList<>();
            int refunds = 1 + random.nextInt(3);
            for (int step = 0; step < STEPS; step++) {
                take(limits[random.nextInt(limits.length)], taken);
                if (!taken.isEmpty() && random.nextInt(4) < refunds) {
                    taken.remove(random.nextInt(taken.size())).refund();
                }
                clock.advance(random.nextInt(50) == 0 ? random.nextLong(WINDOW) : random.nextLong(WINDOW / 200));
                assertAgreement(limits[random.nextInt(limits.length)]);
            }
            assertThat(blocks(name)).isLessThanOrEqualTo(1 + 2 * entries(name) / LEAST_ENTRIES);
        }
    }

    private void take(RateLimit limit, List<Taken> taken) {
        List<Charge> charges = List.of(new Charge(limit, "key", 1 + random.nextInt(3)));
        StoreOutcome ofShared = shared.decide(StoreRequest.refundable(charges))
                .toStage()
                .toCompletableFuture()
                .join();
        StoreOutcome ofMemory = memory.decide(StoreRequest.refundable(charges))
                .toStage()
                .toCompletableFuture()
                .join();
        assertThat(ofShared.decisions()).isEqualTo(ofMemory.decisions());
        if (ofShared.decisions().get(0).allowed()) {
            taken.add(new Taken(charges.get(0), ofShared.refund(), ofMemory.refund()));
        }
    }

    private void assertAgreement(RateLimit limit) {
        Charge charge = new Charge(limit, "key", 1 + random.nextLong(limit.capacity()));
        assertThat(shared.decide(StoreRequest.peek(charge)).await().decision())
                .isEqualTo(memory.decide(StoreRequest.peek(charge)).await().decision());
    }

    private long blocks(String name) {
        return list(name).size();
    }

    private long entries(String name) {
        return list(name).stream().mapToInt(PackedLog::entries).sum();
    }

    private List<byte[]> list(String name) {
        return PackedLog.blocks(redis.commands(), prefix + ":{key}:" + name);
    }
}

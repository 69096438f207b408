package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.OwnAlgorithms.Batches;
import io.ratelimit.testing.OwnAlgorithms.Tolerant;
import io.ratelimit.testing.RandomHistory;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The Java and the Lua of an application's algorithm answer alike, as do what follows from them, and changes of algorithms. */
@BothTiers
class OwnAlgorithmAgreementTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final List<RateLimitAlgorithm> ALGORITHMS = List.of(new Batches(), new Tolerant());

    private static final int HISTORIES = TestRandom.cases(150);

    private static final int CALLS = 80;

    private final TestClock clock = new TestClock();

    private final RateLimitStore memory = new InMemoryRateLimitStore(clock, 1_000_000);

    private final RateLimitStore shared = TestStores.over(
            FakeTimeScriptExecutor.with(ALGORITHMS, redis.connections(), clock), RedisUnderTest.newPrefix());

    @Test
    void storesAgreeWhileAlgorithmsNumbersAndClocksChangeAndOperatorsChangeBuckets() {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history =
                    new RandomHistory(random, "own" + i, clock).blocking().with(ALGORITHMS);
            for (int call = 0; call < CALLS; call++) {
                List<Charge> charges = history.next();
                assertThat(shared.decide(StoreRequest.of(charges)).await().decisions())
                        .as(history::toString)
                        .isEqualTo(
                                memory.decide(StoreRequest.of(charges)).await().decisions());
                Charge first = charges.get(0);
                if (history.chance(8)) {
                    assertThat(shared.decide(StoreRequest.peek(first)).await().decision())
                            .as(history::toString)
                            .isEqualTo(memory.decide(StoreRequest.peek(first))
                                    .await()
                                    .decision());
                }
                if (history.chance(6)) {
                    change(first, change(random), history);
                }
                if (history.chance(40)) {
                    shared.change(first.limit(), first.key(), BucketChange.RESET)
                            .toCompletableFuture()
                            .join();
                    memory.change(first.limit(), first.key(), BucketChange.RESET)
                            .toCompletableFuture()
                            .join();
                }
            }
        }
    }

    @Test
    void storesAgreeOnCostsThatAreKnownAfterwards() {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history = new RandomHistory(random, "own-debt" + i, clock).with(ALGORITHMS);
            for (int call = 0; call < CALLS; call++) {
                List<Charge> charges = history.next();
                assertThat(shared.decide(StoreRequest.of(charges)).await().decisions())
                        .as(history::toString)
                        .isEqualTo(
                                memory.decide(StoreRequest.of(charges)).await().decisions());
                Charge first = charges.get(0);
                history.note("charged " + first);
                shared.charge(first).toCompletableFuture().join();
                memory.charge(first).toCompletableFuture().join();
                assertThat(shared.decide(StoreRequest.peek(first)).await().decision())
                        .as(history::toString)
                        .isEqualTo(
                                memory.decide(StoreRequest.peek(first)).await().decision());
            }
        }
    }

    private static BucketChange change(Random random) {
        return switch (random.nextInt(5)) {
            case 0 -> BucketChange.UNBLOCK;
            case 1 -> BucketChange.block(Duration.ofMinutes(1 + random.nextInt(60)));
            case 2, 3 -> BucketChange.grant(TestRandom.logarithmic(random, 1, 1_000_000));
            default -> BucketChange.NONE;
        };
    }

    private void change(Charge bucket, BucketChange change, RandomHistory history) {
        history.note(change.toString());
        assertThat(shared.change(bucket.limit(), bucket.key(), change)
                        .toCompletableFuture()
                        .join())
                .as(history::toString)
                .isEqualTo(memory.change(bucket.limit(), bucket.key(), change)
                        .toCompletableFuture()
                        .join());
    }

    @Test
    void storesAgreeWhileChargesAreRefunded() {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history = new RandomHistory(random, "own-refunded" + i, clock).with(ALGORITHMS);
            List<RefundTwins> underWay = new ArrayList<>();
            for (int call = 0; call < CALLS; call++) {
                underWay.add(RefundTwins.take(history, shared, memory));
                while (!underWay.isEmpty() && history.chance(3)) {
                    underWay.get(Math.max(0, underWay.size() - 1 - random.nextInt(6)))
                            .refund(history, random);
                }
            }
        }
    }
}

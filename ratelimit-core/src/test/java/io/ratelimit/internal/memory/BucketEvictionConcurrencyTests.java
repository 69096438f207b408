package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@LongRunning
@Timeout(180)
class BucketEvictionConcurrencyTests {

    private static final int THREADS = 8;

    private static final int CALLS = 20_000;

    /** Of all threads; which has which number is the schedule's doing. */
    private final Random random = TestRandom.create(BucketEvictionConcurrencyTests.class);

    private final RateLimit hot = TestLimits.tokenBucket("hot", 50_000, "1/h");

    private final RateLimit flooded = TestLimits.fixedWindow("flooded", 1_000_000, "1000000/h");

    private final RateLimit three = TestLimits.tokenBucket("three", 3, "1/h");

    private final RateLimit alsoThree = TestLimits.fixedWindow("also-three", 3, "3/h");

    private final AtomicInteger keys = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 64, 1_000})
    void theBoundHoldsAndNoPlaceIsLost(int max) throws Exception {
        BucketTable table = new BucketTable(
                max,
                (limit, state, clock) -> new EvictionPriority(state == null ? 0 : TestStates.used(state), 0),
                () -> {},
                random::nextInt);
        CompiledLimit limit = CompiledLimit.of(three, table);
        for (int round = 0; round < TestRandom.cases(250); round++) {
            ParallelCalls.countAllowed(THREADS, CALLS, thread -> () -> comeAndGo(table, limit, 3 * max));
            assertThat(table.size()).isLessThanOrEqualTo(max);
            IntStream.range(0, 3 * max).forEach(i -> table.remove(limit, "key" + i));
            assertThat(table.size()).isZero();
            IntStream.range(0, max).forEach(i -> table.add(bucket(limit, i), 0));
            assertThat(table.size()).isEqualTo(max);
        }
    }

    @Test
    void aHotKeyIsCountedExactlyDuringAFlood() throws Exception {
        RateLimitStore store = new InMemoryRateLimitStore(TimeSource.monotonic(), 64, () -> {}, random::nextInt);
        assertThat(take(store, new Charge(hot, "hot", 25_000))).isTrue();
        long allowed = ParallelCalls.countAllowed(THREADS, CALLS, thread -> () -> switch (thread % 4) {
            case 0 -> take(store, new Charge(hot, "hot", 1));
            case 1 -> take(store, new Charge(hot, "hot", 1), newcomer());
            case 2 -> !take(store, newcomer());
            default -> !take(store, newcomer(), newcomer());
        });
        assertThat(allowed).isEqualTo(25_000);
    }

    @RepeatedTest(5)
    void newcomersOfTheSameKeyAreCountedTogether() throws Exception {
        RateLimitStore store = new InMemoryRateLimitStore(TimeSource.monotonic(), 2 * CALLS);
        AtomicInteger[] calls = IntStream.range(0, THREADS)
                .mapToObj(thread -> new AtomicInteger())
                .toArray(AtomicInteger[]::new);
        long allowed = ParallelCalls.countAllowed(THREADS, CALLS, thread -> () -> {
            String key = "key" + calls[thread].getAndIncrement();
            return thread % 2 == 0
                    ? take(store, new Charge(three, key, 1))
                    : take(store, new Charge(alsoThree, key, 1), new Charge(three, key, 1));
        });
        assertThat(allowed).isEqualTo(3 * CALLS);
    }

    private boolean comeAndGo(BucketTable table, CompiledLimit limit, int keys) {
        int number = random.nextInt(keys);
        Bucket known = table.get(limit, "key" + number);
        if (known == null) {
            return table.add(bucket(limit, number), 0);
        }
        switch (number % 4) {
            case 0 -> table.remove(limit, "key" + number);
            case 1 -> TestStates.write(known, TestStates.of(three, number % 7, 0));
            case 2 -> {
                if (TestStates.write(known, null)) {
                    table.removeUnused(known);
                }
            }
            default -> {}
        }
        return true;
    }

    private Bucket bucket(CompiledLimit limit, int number) {
        return new Bucket(limit, "key" + number, TestStates.of(three, number % 7, 0));
    }

    private Charge newcomer() {
        return new Charge(flooded, "flood" + keys.incrementAndGet(), 1);
    }

    private static boolean take(RateLimitStore store, Charge... charges) {
        return store.decide(StoreRequest.of(List.of(charges))).await().decisions().stream()
                .allMatch(RateLimitDecision::allowed);
    }
}

package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestRandom;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A call that runs out of stack, wherever that strikes it, leaves no bucket held: later calls of the key return. */
@BothTiers
class StackOverflowTests {

    /** Enough for the JIT, whose code takes less of the stack than the interpreter, so that the two are mixed. */
    private static final int WARM_UPS = 2_000;

    private static final int DIVES = TestRandom.cases(300);

    /** From where the stack ends up to where so many calls of a dive have returned. */
    private static final int RETURNS = 50;

    private static final int KEYS = 10;

    private static final long STACK_BYTES = 256 * 1024;

    private final Random random = TestRandom.create(StackOverflowTests.class);

    private final RateLimitStore store =
            new InMemoryRateLimitStore(TimeSource.monotonic(), 50, () -> {}, random::nextInt);

    private final List<RateLimit> limits = Stream.of(Algorithm.TOKEN_BUCKET, Algorithm.SLIDING_WINDOW_LOG)
            .map(algorithm -> RateLimit.named(algorithm.name())
                    .algorithm(algorithm)
                    .capacity(10_000)
                    .rate("1000/s")
                    .build())
            .toList();

    private int returned;

    @ParameterizedTest
    @EnumSource
    void leavesNoBucketHeld(Call call) throws InterruptedException {
        // What is loaded for the first time at the stack's end stays broken.
        for (int i = 0; i < WARM_UPS; i++) {
            callEverything(call);
        }
        assertReturns(new Thread(
                null,
                () -> {
                    for (int i = 0; i < DIVES; i++) {
                        returned = 0;
                        dive(call, i);
                    }
                },
                "diver",
                STACK_BYTES));
        assertReturns(new Thread(() -> callEverything(call)));
    }

    /** What the store is asked when the stack ends. */
    private enum Call {
        ONE_LIMIT {
            @Override
            void make(StackOverflowTests test, String key) {
                test.charges(key).forEach(charge -> test.store.decide(charge).await());
            }
        },
        SEVERAL_LIMITS {
            @Override
            void make(StackOverflowTests test, String key) {
                test.store.decide(StoreRequest.of(test.charges(key))).await();
            }
        },
        REFUND {
            @Override
            void make(StackOverflowTests test, String key) {
                List<Charge> charges = test.charges(key);
                test.store
                        .decide(StoreRequest.refundable(charges))
                        .toStage()
                        .thenCompose(decided -> decided.refund().refund(charges));
            }
        },
        PEEK {
            @Override
            void make(StackOverflowTests test, String key) {
                test.charges(key)
                        .forEach(charge ->
                                test.store.decide(StoreRequest.peek(charge)).await());
            }
        },
        RESET {
            @Override
            void make(StackOverflowTests test, String key) {
                test.charges(key)
                        .forEach(charge -> test.store
                                .change(charge.limit(), key, BucketChange.RESET)
                                .toCompletableFuture()
                                .join());
            }
        };

        abstract void make(StackOverflowTests test, String key);
    }

    @SuppressWarnings("InfiniteRecursion") // It ends with the stack.
    private void dive(Call call, int number) {
        try {
            dive(call, number + 1);
        } catch (StackOverflowError end) {
            // Turns back.
        }
        if (returned < RETURNS) {
            try {
                call.make(this, key(number));
                returned++;
            } catch (StackOverflowError end) {
                // As it has to.
            }
        }
    }

    private void callEverything(Call call) {
        for (int i = 0; i < KEYS; i++) {
            store.decide(StoreRequest.of(charges(key(i)))).await();
            charges(key(i)).forEach(charge -> store.decide(charge).await());
            call.make(this, key(i));
        }
    }

    private static String key(int number) {
        return "user-" + number % KEYS;
    }

    private List<Charge> charges(String key) {
        return limits.stream().map(limit -> new Charge(limit, key, 1)).toList();
    }

    private static void assertReturns(Thread thread) throws InterruptedException {
        thread.setDaemon(true);
        thread.start();
        thread.join(TimeUnit.SECONDS.toMillis(120));
        assertThat(thread.isAlive()).as("it hangs").isFalse();
    }
}

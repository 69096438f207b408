package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ratelimit.Algorithm;
import io.ratelimit.AllCallers;
import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.HeldStore;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every method of a limiter, with and without a key, blocking and asynchronous. */
class RateLimiterMethodsTests {

    private static final RateLimitDecision YES = RateLimitDecision.ofMicros(10, 6, 0, 0, 1_000);

    private static final RateLimitDecision LATER = RateLimitDecision.ofMicros(10, 0, 250_000, 0, 1_000_000);

    private static final RateLimitDecision NO = RateLimitDecision.ofMicros(10, 0, 0, 5, 100);

    private final StubStore store = new StubStore();

    private final TimerWaiter timer = new TimerWaiter();

    private final RateLimit quotes = TestLimits.tokenBucket("quotes", 10, "1/h");

    /** A method, and how many permits it asks for. */
    private enum Method {
        TRY_ACQUIRE(1) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().tryAcquire() : limiter.tryAcquire(key);
            }
        },
        TRY_ACQUIRE_SEVERAL(4) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().tryAcquire(4) : limiter.tryAcquire(key, 4);
            }
        },
        TRY_ACQUIRE_ASYNC(1) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().tryAcquireAsync() : limiter.tryAcquireAsync(key);
            }
        },
        TRY_ACQUIRE_SEVERAL_ASYNC(4) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().tryAcquireAsync(4) : limiter.tryAcquireAsync(key, 4);
            }
        },
        ACQUIRE(1) {
            @Override
            Object call(RateLimiter limiter, String key) {
                if (key == null) {
                    limiter.allCallers().acquire();
                } else {
                    limiter.acquire(key);
                }
                return "";
            }
        },
        ACQUIRE_SEVERAL(4) {
            @Override
            Object call(RateLimiter limiter, String key) {
                if (key == null) {
                    limiter.allCallers().acquire(4);
                } else {
                    limiter.acquire(key, 4);
                }
                return "";
            }
        },
        ACQUIRE_ASYNC(1) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().acquireAsync() : limiter.acquireAsync(key);
            }
        },
        ACQUIRE_SEVERAL_ASYNC(4) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().acquireAsync(4) : limiter.acquireAsync(key, 4);
            }
        },
        PEEK(1) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().peek() : limiter.peek(key);
            }
        },
        PEEK_ASYNC(1) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().peekAsync() : limiter.peekAsync(key);
            }
        },
        RESET(0) {
            @Override
            Object call(RateLimiter limiter, String key) {
                if (key == null) {
                    limiter.allCallers().reset();
                } else {
                    limiter.reset(key);
                }
                return "";
            }
        },
        RESET_ASYNC(0) {
            @Override
            Object call(RateLimiter limiter, String key) {
                return key == null ? limiter.allCallers().resetAsync() : limiter.resetAsync(key);
            }
        };

        private final long permits;

        Method(long permits) {
            this.permits = permits;
        }

        /** Calls the method without a key if it is null. */
        abstract Object call(RateLimiter limiter, String key);

        boolean isAsync() {
            return name().endsWith("ASYNC");
        }

        boolean resets() {
            return name().startsWith("RESET");
        }
    }

    @ParameterizedTest
    @EnumSource
    void chargesTheBucketOfTheKeyOrOfAllCallers(Method method) {
        store.answer(YES);
        for (String key : new String[] {"alice", null}) {
            assertThat(result(method.call(limiter(quotes, store), key))).isIn(YES, "", null);
            assertThat(store.asked()).last().isEqualTo(List.of(new Charge(quotes, key, method.permits)));
        }
        assertThat(store.asked()).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource
    void isRefusedWhereAThreadMustNotBlockUnlessItIsAsynchronous(Method method) {
        store.answer(YES);
        RateLimiter limiter = limiter(quotes, eventLoop(store));
        if (method.isAsync()) {
            assertThat(result(method.call(limiter, "alice"))).isIn(YES, null);
        } else {
            assertThatIllegalStateException()
                    .isThrownBy(() -> method.call(limiter, "alice"))
                    .withMessageContaining("must not block");
            assertThat(store.asked()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void doesNotWaitForTheStoreIfItIsAsynchronous(Method method) {
        if (method.isAsync() && !method.resets()) {
            HeldStore held = new HeldStore(store);
            store.answer(YES);
            CompletableFuture<?> stage = future(method.call(limiter(quotes, held), null));
            assertThat(stage).isNotDone();
            held.answer();
            assertThat(stage).isCompleted();
        }
    }

    @ParameterizedTest
    @EnumSource
    void failsWithTheStore(Method method) {
        RateLimitStoreException down = new RateLimitStoreException(Reason.ERROR, "down", null);
        store.fail(down);
        assertThat(failure(method, limiter(quotes, store), "alice")).isSameAs(down);
        store.failAtOnce(down);
        assertThat(failure(method, limiter(quotes, store), "alice")).isSameAs(down);
    }

    @ParameterizedTest
    @EnumSource
    void doesNotAskForADisabledLimitUnlessItResets(Method method) {
        RateLimit off = TestSettings.of(false, OnStoreFailure.LOCAL, Map.of("quotes", disabled("quotes")))
                .apply(quotes);
        for (String key : new String[] {"alice", null}) {
            assertThat(result(method.call(limiter(off, store), key))).isIn(RateLimitDecision.unlimited(10), "", null);
        }
        assertThat(store.asked()).hasSize(method.resets() ? 2 : 0);
    }

    @ParameterizedTest
    @EnumSource
    void allowsEverythingWhereNothingIsLimited(Method method) {
        for (String key : new String[] {"alice", null}) {
            assertThat(result(method.call(new UnlimitedRateLimiterRegistry().get("any"), key)))
                    .isIn(RateLimitDecision.unlimited(Long.MAX_VALUE), "", null);
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesAKeyThatIsEmpty(Method method) {
        assertThat(failure(method, limiter(quotes, store), "")).isInstanceOf(IllegalArgumentException.class);
        assertThat(store.asked()).isEmpty();
    }

    /** A number that identifies a caller must not compile into permits. */
    @Test
    void noMethodTakesANumberInPlaceOfAKey() {
        assertThat(RateLimiter.class.getMethods())
                .filteredOn(method -> method.getParameterCount() > 0)
                .noneMatch(method -> method.getParameterTypes()[0] == long.class);
    }

    @Test
    void allCallersHaveEachMethodWithoutItsKey() {
        Stream<String> keyed = Stream.of(RateLimiter.class.getMethods())
                .filter(method ->
                        method.getParameterCount() > 0 && !method.getName().equals("withPlan"))
                .map(method -> method.getName()
                        + Stream.of(method.getParameterTypes()).skip(1).toList());
        assertThat(Stream.of(AllCallers.class.getDeclaredMethods())
                        .map(method -> method.getName() + List.of(method.getParameterTypes())))
                .containsExactlyInAnyOrderElementsOf(keyed.toList());
    }

    @Test
    void nullIsNoKey() {
        RateLimiter limiter = limiter(quotes, store);
        assertThatIllegalArgumentException().isThrownBy(() -> limiter.tryAcquire(null, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> limiter.acquire(null, 1));
        assertThat(Stream.of(
                        limiter.acquireAsync(null, 1),
                        limiter.peekAsync(null),
                        limiter.resetAsync(null),
                        limiter.tryAcquireAsync(null, 1)))
                .allSatisfy(stage -> assertThat(failure(stage)).isInstanceOf(IllegalArgumentException.class));
        assertThat(store.asked()).isEmpty();
    }

    @Test
    void asynchronousCallWaitsForReservedPermitsWithoutAThread() {
        store.answer(LATER);
        CompletableFuture<?> acquired = future(limiter(quotes, eventLoop(store)).acquireAsync("alice", 4));
        assertThat(acquired).isNotDone();
        assertThat(timer.delay).isEqualTo(Duration.ofMillis(250));
        timer.over.complete(null);
        assertThat(acquired).isCompletedWithValue(null);
    }

    @Test
    void cancelledCallStopsWaiting() {
        store.answer(LATER);
        future(limiter(quotes, store).acquireAsync("alice")).cancel(false);
        assertThat(timer.over).isCancelled();
    }

    @Test
    void rejectionCompletesTheStageItself() {
        store.answer(NO);
        AtomicReference<Throwable> seen = new AtomicReference<>();
        var unused = limiter(quotes, store).allCallers().acquireAsync().exceptionally(thrown -> {
            seen.set(thrown);
            return null;
        });
        assertThat(seen.get()).isInstanceOf(RateLimitExceededException.class);
    }

    @Test
    void dryRunNeitherRejectsNorWaits() {
        RateLimiter trial = limiter(TestLimits.dryRun(quotes), store);
        for (RateLimitDecision decision : List.of(LATER, NO)) {
            store.answer(decision);
            assertThat(future(trial.allCallers().acquireAsync())).isCompleted();
            trial.allCallers().acquire(2);
            assertThat(trial.allCallers()
                            .peekAsync()
                            .toCompletableFuture()
                            .join()
                            .allowed())
                    .isTrue();
        }
        assertThat(timer.delay).isNull();
    }

    /** The store in memory answers at once, but the permits may not be there yet. */
    @Test
    void waitForPermitsIsRefusedWhereAThreadMustNotBlock() {
        RateLimit spaced = RateLimit.named("spaced")
                .algorithm(Algorithm.LEAKY_BUCKET)
                .capacity(2)
                .rate(1, Duration.ofHours(1))
                .build();
        RateLimiter limiter = limiter(spaced, eventLoop(new InMemoryRateLimitStore(new TestClock(), 100)));
        assertThatIllegalStateException().isThrownBy(() -> limiter.acquire("alice"));
        assertThat(limiter.peek("alice").remaining()).isEqualTo(2);
        assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
    }

    private Throwable failure(Method method, RateLimiter limiter, String key) {
        if (method.isAsync()) {
            return failure((CompletionStage<?>) method.call(limiter, key));
        }
        try {
            method.call(limiter, key);
            return null;
        } catch (RuntimeException ex) {
            return ex;
        }
    }

    private static Throwable failure(CompletionStage<?> stage) {
        CompletableFuture<?> future = stage.toCompletableFuture();
        assertThat(future).isCompletedExceptionally();
        return future.handle((value, thrown) -> thrown.getCause() == null ? thrown : thrown.getCause())
                .join();
    }

    private static Object result(Object returned) {
        return returned instanceof CompletionStage<?> stage
                ? stage.toCompletableFuture().join()
                : returned;
    }

    private static CompletableFuture<?> future(Object stage) {
        return ((CompletionStage<?>) stage).toCompletableFuture();
    }

    private RateLimiter limiter(RateLimit limit, RateLimitStore asked) {
        return limiter(limit, new RateLimitGate(asked, (charge, decision, outcome) -> {}, timer));
    }

    private static RateLimiter limiter(RateLimit limit, RateLimitGate gate) {
        return new StoreRateLimiter(limit.name(), name -> new EffectiveLimit(limit), gate);
    }

    /** All threads must not block. */
    private RateLimitGate eventLoop(RateLimitStore asked) {
        return new RateLimitGate(
                asked,
                (charge, decision, outcome) -> {},
                CallObserver.NONE,
                timer,
                () -> true,
                Duration.ofSeconds(1),
                null);
    }

    private static LimitConfiguration disabled(String name) {
        return LimitConfiguration.of(name).with(LimitAttributes.ENABLED, false);
    }

    /** Its time is over when the test says so. */
    private static final class TimerWaiter implements Waiter {

        private final CompletableFuture<Void> over = new CompletableFuture<>();

        private Duration delay;

        @Override
        public void await(Duration time) {
            delay = time;
        }

        @Override
        public CompletionStage<Void> awaitAsync(Duration time) {
            delay = time;
            return over;
        }
    }
}

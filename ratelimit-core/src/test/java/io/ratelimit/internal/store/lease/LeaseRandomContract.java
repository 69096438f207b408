package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.RandomLimits;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Several instances, each with leases of its own, over one store. Every call that one of them admits is made again, at the
 * moment at which it was admitted, under the rule by the book, which knows nothing of leases.
 */
public abstract class LeaseRandomContract {

    private static final int CALLS = 80;

    private final Random random = TestRandom.create(getClass());

    private final RandomLimits limits = new RandomLimits(random);

    private final TestClock clock = new TestClock();

    private final int games;

    /** So many limits of each kind are played. */
    protected LeaseRandomContract(int games) {
        this.games = games;
    }

    /** A new, empty store. */
    protected abstract RateLimitStore storeAt(TimeSource time);

    private RateLimit leased(LimitKind kind) {
        while (true) {
            RateLimit drawn = limits.next("limit", kind);
            long capacity = kind == LimitKind.TOKEN_BUCKET_BY_INTERVALS
                    ? Math.min(drawn.capacity(), drawn.rate().permits())
                    : drawn.capacity();
            if (capacity > 1) {
                return RateLimit.named("limit")
                        .algorithm(kind.algorithm())
                        .refill(kind.refill())
                        .capacity(capacity)
                        .rate(drawn.rate().toString())
                        .lease(TestRandom.logarithmic(random, 1, capacity))
                        .build();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "TOKEN_BUCKET_BY_INTERVALS", "FIXED_WINDOW", "SLIDING_WINDOW"})
    void ruleAloneWouldHaveAdmittedEveryCall(LimitKind kind) {
        long handedOut = 0;
        long asked = 0;
        for (int i = 0; i < games; i++) {
            Game game = new Game(leased(kind));
            game.play();
            handedOut += game.handedOut;
            asked += game.slow.asked;
        }
        System.out.println(
                kind + ": " + handedOut + " calls from stock, " + asked + " trips, " + renewals + " renewals");
        assertThat(handedOut).isGreaterThan(10L * games);
        if (leased(kind).numbers().traits().has(Trait.STARTS_PERIODS)) {
            assertThat(renewals).isZero();
        } else if (games > 100) {
            assertThat(renewals).isPositive();
        }
    }

    private long renewals;

    private final class Game {

        private final RateLimit limit;

        /** Of an instance without leases. */
        private final RateLimit unleased;

        private final SlowStore slow = new SlowStore(storeAt(clock));

        private final List<LeasingRateLimitStore> instances = IntStream.rangeClosed(0, random.nextInt(4))
                .mapToObj(i -> new LeasingRateLimitStore(
                        slow,
                        Duration.ofSeconds(20),
                        () -> clock.micros() * 1_000,
                        new ScheduledThreadPoolExecutor(1),
                        Runnable::run,
                        10))
                .toList();

        private final TestClock bookClock = new TestClock();

        private final boolean refunds;

        private final RateLimitStore book;

        /** What may be refunded later, here and in the book. */
        private final List<Runnable> refundable = new ArrayList<>();

        private final boolean steady = random.nextBoolean();

        private final boolean mixed = random.nextInt(3) == 0;

        private long handedOut;

        Game(RateLimit limit) {
            this.limit = limit;
            unleased = RateLimit.named("limit")
                    .algorithm(limit.algorithm())
                    .refill(limit.refill())
                    .capacity(limit.capacity())
                    .rate(limit.rate().toString())
                    .build();
            // A window that a refunded call has opened goes on, which the book's does not.
            boolean opensNothing = limit.algorithm() == Algorithm.SLIDING_WINDOW
                    || limit.numbers().traits().has(Trait.REFILLS_EVENLY);
            refunds = opensNothing && random.nextBoolean();
            book = refunds && !limit.numbers().traits().has(Trait.REFILLS_EVENLY)
                    ? new InMemoryRateLimitStore(bookClock, 10)
                    : new ReferenceStore(bookClock);
        }

        void play() {
            clock.set(TestClock.TODAY + random.nextLong(1_000_000_000));
            int favourite = random.nextInt(instances.size());
            for (int call = 0; call < CALLS; call++) {
                call(instances.get(random.nextInt(3) > 0 ? favourite : random.nextInt(instances.size())));
                if (random.nextInt(12) == 0) {
                    favourite = random.nextInt(instances.size());
                }
                if (random.nextInt(10) == 0) {
                    refund(instances.get(random.nextInt(instances.size())));
                }
                clock.advance(pause());
            }
            instances.forEach(LeasingRateLimitStore::close);
        }

        private void call(LeasingRateLimitStore instance) {
            RateLimit known = mixed && random.nextInt(3) == 0 ? unleased : limit;
            List<Charge> charges = List.of(new Charge(known, "key", permits()));
            slow.decided = -1;
            long called = clock.micros();
            // Such a call takes no lease.
            boolean mayBeRefunded = refunds && random.nextBoolean();
            StoreRequest request = StoreRequest.of(charges, mayBeRefunded);
            StoreOutcome decided = mayBeRefunded
                    ? instance.decide(request).toStage().toCompletableFuture().join()
                    : instance.decide(request.first()).await();
            if (decided.decision().allowed()) {
                handedOut += slow.decided < 0 ? 1 : 0;
                bookClock.set(slow.decided < 0 ? called : slow.decided);
                write(charges, mayBeRefunded ? decided.refund() : null);
            }
            if (!refundable.isEmpty() && random.nextInt(4) == 0) {
                refundable.remove(random.nextInt(refundable.size())).run();
            }
        }

        /** In the book. */
        private void write(List<Charge> charges, @Nullable Refund refund) {
            StoreOutcome written = refund != null
                    ? book.decide(StoreRequest.refundable(charges))
                            .toStage()
                            .toCompletableFuture()
                            .join()
                    : book.decide(StoreRequest.of(charges)).await();
            assertThat(written.decision().allowed())
                    .as("%s: %s at %s", limit, charges.get(0).permits(), bookClock.micros())
                    .isTrue();
            if (refund != null && random.nextInt(3) == 0) {
                refundable.add(() -> {
                    bookClock.set(clock.micros());
                    written.refund().refund(charges).toCompletableFuture().join();
                    refund.refund(charges).toCompletableFuture().join();
                });
            }
        }

        private void refund(LeasingRateLimitStore instance) {
            if (random.nextInt(4) > 0) {
                instance.refundIdle();
                instance.refundIdle();
            } else {
                instance.refundAll(Duration.ofSeconds(20));
                instance.resume();
            }
        }

        private long permits() {
            if (steady || random.nextInt(3) > 0) {
                return 1;
            }
            return random.nextInt(10) == 0 ? limit.capacity() : 1 + random.nextLong(Math.min(limit.capacity(), 5));
        }

        /** Mostly so short that leases are used, about a permit's time or a window's, or up to a while. */
        private long pause() {
            long permit = limit.numbers().reducedRate().timeOf(1, 0);
            long pause = switch (random.nextInt(8)) {
                case 0, 1 -> 0;
                case 2 -> random.nextInt(3);
                case 3, 4 -> random.nextLong(permit + 1);
                case 5 -> random.nextLong(5 * permit + 1);
                case 6 -> toEndOfWindow() + random.nextInt(5) - 2;
                default -> random.nextInt(6) == 0 ? random.nextLong(2 * limit.fullMicros()) : permit;
            };
            return Math.min(Math.max(0, pause), 10_000_000_000_000L);
        }

        private long toEndOfWindow() {
            return random.nextInt(6) == 0 ? limit.fullMicros() - clock.micros() % limit.fullMicros() : 0;
        }

        /** A request takes its time on the way there, and the reply on the way back. */
        private final class SlowStore implements RateLimitStore {

            private final RateLimitStore store;

            private long decided;

            private long asked;

            SlowStore(RateLimitStore store) {
                this.store = store;
            }

            /** @param renewal is for later calls, and decides none */
            private <T> T slowly(boolean renewal, Supplier<T> work) {
                asked++;
                clock.advance(latency());
                decided = renewal ? decided : clock.micros();
                T done = work.get();
                clock.advance(latency());
                return done;
            }

            private long latency() {
                return random.nextInt(3) > 0 ? 0 : Math.min(pause(), 100_000_000);
            }

            @Override
            public StoreAnswer decide(StoreRequest request) {
                return StoreAnswer.of(
                        () -> slowly(false, () -> store.decide(request).await()), () -> decideAsync(request));
            }

            private CompletionStage<StoreOutcome> decideAsync(StoreRequest request) {
                assertThat(request.more()).isBetween(0L, limit.lease());
                boolean renewal = request.first().permits() == 0;
                renewals += renewal ? 1 : 0;
                return slowly(renewal, () -> store.decide(request).toStage()).thenApply(this::slow);
            }

            private StoreOutcome slow(StoreOutcome outcome) {
                Lease lease = outcome.lease();
                if (lease == null) {
                    return outcome;
                }
                return outcome.with(new Lease(lease.permits(), permits -> {
                    clock.advance(latency());
                    return lease.unused().refund(permits);
                }));
            }

            @Override
            public CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
                return store.change(limit, key, change);
            }
        }
    }
}

package io.ratelimit.internal.store.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.Refill;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.RandomLimits;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.Fraction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Instances that each go by their share, at random, against what the whole limit would let through. */
class LocalShareRandomTests {

    private static final int LIMITS = 100;

    private static final int MOST_INSTANCES = 10;

    private static final int CALLS = 40;

    private final Random random = TestRandom.create(getClass());

    private final RandomLimits limits = new RandomLimits(random);

    private final TestClock clock = new TestClock();

    /** What one instance admitted at a time. */
    private record Admission(long micros, long permits) {}

    /** Windows that open with a call and periods that begin with one are each instance's own: only their sum can be bounded. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"FIXED_WINDOW", "TOKEN_BUCKET_BY_INTERVALS"})
    void wholeLimitWouldHaveAdmittedEveryCall(LimitKind kind) {
        for (int i = 0; i < LIMITS; i++) {
            RateLimit limit = limits.next("limit", kind);
            int instances = instances(limit.capacity());
            RateLimitStore whole = store();
            for (Admission admission : play(limit, instances)) {
                clock.set(admission.micros());
                assertThat(whole.decide(StoreRequest.of(List.of(new Charge(limit, "key", admission.permits()))))
                                .await()
                                .decision()
                                .allowed())
                        .as("%s by %s instances", limit, instances)
                        .isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "TOKEN_BUCKET_BY_INTERVALS"})
    void inNoStretchOfTimeIsMoreAdmittedThanTheWholeLimitCan(LimitKind kind) {
        for (int i = 0; i < LIMITS; i++) {
            RateLimit limit = limits.next("limit", kind);
            int instances = instances(limit.capacity());
            assertNoStretchHasMore(play(limit, instances), limit, micros -> most(limit, micros));
            assertNoStretchHasMore(greedy(limit, instances), limit, micros -> most(limit, micros));
        }
    }

    @ParameterizedTest
    @EnumSource
    void whereEachInstanceHasOnePermitTheRateIsStillTheLimits(LimitKind kind) {
        for (int i = 0; i < LIMITS; i++) {
            RateLimit limit = limits.next("limit", kind);
            if (limit.capacity() < MOST_INSTANCES) {
                int instances = (int) limit.capacity() + 1 + random.nextInt(MOST_INSTANCES);
                assertNoStretchHasMore(play(limit, instances), limit, atRate(instances, limit));
                assertNoStretchHasMore(greedy(limit, instances), limit, atRate(instances, limit));
            }
        }
    }

    /** What is reserved ahead comes at the rate, too. */
    private static Bound atRate(int atOnce, RateLimit limit) {
        Fraction perMicro = perMicro(limit);
        long ahead = TestClock.inMicros(limit.maxWait());
        return micros -> Fraction.of(micros + ahead).times(perMicro).floor() + atOnce;
    }

    /** What may be admitted in so many microseconds, those of the first and of the last call included. */
    @FunctionalInterface
    private interface Bound {

        long within(long micros);
    }

    private static void assertNoStretchHasMore(List<Admission> admissions, RateLimit limit, Bound bound) {
        for (int from = 0; from < admissions.size(); from++) {
            long admitted = 0;
            for (int to = from; to < admissions.size(); to++) {
                admitted += admissions.get(to).permits();
                long micros = admissions.get(to).micros() - admissions.get(from).micros();
                if (admitted > bound.within(micros)) {
                    fail("%s: %s in %s us", limit, admitted, micros);
                }
            }
        }
    }

    /** As if calls came at the worst of times: after a window or a period that began before the stretch of time. */
    private static long most(RateLimit limit, long micros) {
        long capacity = limit.capacity();
        long batch = limit.algorithm() == Algorithm.FIXED_WINDOW
                ? capacity
                : Math.min(capacity, limit.rate().permits());
        long period = limit.algorithm() == Algorithm.FIXED_WINDOW
                ? limit.fullMicros()
                : limit.rate().periodMicros();
        long fresh = capacity + batch * (micros / period);
        return micros == 0 ? fresh : Math.max(fresh, capacity - 1 + batch * (1 + (micros - 1) / period));
    }

    /** In the long run; more than a bucket holds cannot come back at once. */
    private static Fraction perMicro(RateLimit limit) {
        long permits = limit.refill() == Refill.INTERVAL
                ? Math.min(limit.capacity(), limit.rate().permits())
                : limit.rate().permits();
        return Fraction.of(permits).dividedBy(Fraction.of(limit.rate().periodMicros()));
    }

    private List<Admission> play(RateLimit limit, int instances) {
        RateLimit share = share(limit, instances);
        if (share == null) {
            return List.of();
        }
        List<RateLimitStore> stores =
                Stream.generate(this::store).limit(instances).toList();
        List<Admission> admissions = new ArrayList<>();
        clock.set(TestClock.TODAY);
        for (int call = 0; call < CALLS; call++) {
            clock.advance(pause(share));
            IntStream.range(0, instances).filter(i -> random.nextInt(3) > 0).forEach(i -> {
                Charge charge = new Charge(share, "key", permits(share));
                if (stores.get(i).decide(charge).await().decision().allowed()) {
                    admissions.add(new Admission(clock.micros(), charge.permits()));
                }
            });
        }
        return admissions;
    }

    /**
     * All instances take a permit, the rest just before that comes back, and from then on whatever there is as soon as it is
     * there. They do so at the same times, so one stands for all.
     */
    private List<Admission> greedy(RateLimit limit, int instances) {
        RateLimit share = share(limit, instances);
        if (share == null) {
            return List.of();
        }
        RateLimitStore store = store();
        clock.set(TestClock.TODAY);
        Duration back =
                store.decide(new Charge(share, "key", 1)).await().decision().resetAfter();
        List<Admission> admissions = new ArrayList<>(List.of(new Admission(clock.micros(), instances)));
        clock.advance(TestClock.inMicros(back) - 1);
        for (int call = 0; call < CALLS; call++) {
            long left = store.decide(StoreRequest.peek(new Charge(share, "key", 0)))
                    .await()
                    .decision()
                    .remaining();
            if (left == 0) {
                clock.advance(store.decide(StoreRequest.peek(new Charge(share, "key", 1)))
                        .await()
                        .decision()
                        .retryAfter());
            } else {
                store.decide(new Charge(share, "key", left)).await();
                admissions.add(new Admission(clock.micros(), left * instances));
            }
        }
        return admissions;
    }

    /** Where the arithmetic ends, the start-up does. */
    private static RateLimit share(RateLimit limit, int instances) {
        try {
            return new LocalShare(instances).of(limit, 0);
        } catch (RateLimitConfigurationException ex) {
            return null;
        }
    }

    /** Everything at once, a permit's time, a window's time, each more or less, or anything up to a while. */
    private long pause(RateLimit share) {
        long full = share.fullMicros();
        long pause = switch (random.nextInt(5)) {
            case 0 -> 0;
            case 1 -> full / share.capacity() + random.nextInt(3) - 1;
            case 2 -> full + random.nextInt(3) - 1;
            case 3 -> share.rate().periodMicros() + random.nextInt(3) - 1;
            default -> TestRandom.logarithmic(random, 1, full);
        };
        // All pauses together stay where the clock can be carried.
        return Math.min(Math.max(0, pause), 10_000_000_000_000L);
    }

    private long permits(RateLimit share) {
        return random.nextBoolean() ? share.capacity() : TestRandom.logarithmic(random, 1, share.capacity());
    }

    private int instances(long capacity) {
        return (int) Math.min(capacity, 1 + random.nextInt(5));
    }

    private RateLimitStore store() {
        return new InMemoryRateLimitStore(clock, 10);
    }
}

package io.ratelimit.internal.store.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.store.contract.TraceStep.Retry;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongPredicate;

/** Draws calls and the times between them, with a liking for the edges. */
public final class RandomTrace {

    private static final int CALLS = 60;

    /** Where the clock, and a bucket's time with it, must end to stay exact. */
    private static final long END = 1L << 52;

    private final Random random;

    private final List<RateLimit> limits;

    private final TestClock clock = new TestClock();

    private final ReferenceStore reference = new ReferenceStore(clock);

    private final List<TraceStep> steps = new ArrayList<>();

    private List<RateLimitDecision> last = List.of();

    private RandomTrace(Random random, List<RateLimit> limits) {
        this.random = random;
        this.limits = limits;
    }

    /** Calls that are charged to all of the limits together. */
    public static List<TraceStep> draw(Random random, List<RateLimit> limits) {
        RandomTrace trace = new RandomTrace(random, limits);
        trace.draw(trace.start());
        return trace.steps;
    }

    /** The same, and the first of them at that time. */
    public static List<TraceStep> drawFrom(long start, Random random, List<RateLimit> limits) {
        RandomTrace trace = new RandomTrace(random, limits);
        trace.draw(start);
        return trace.steps;
    }

    private void draw(long start) {
        clock.set(start);
        while (steps.size() < CALLS) {
            List<Charge> charges = limits.stream()
                    .map(limit -> new Charge(limit, "key", permits(limit)))
                    .toList();
            call(charges, Retry.NONE);
            if (limits.size() == 1 && random.nextInt(4) == 0) {
                retry(charges);
            }
            advance(step());
        }
    }

    private void call(List<Charge> charges, Retry retry) {
        last = reference.decide(StoreRequest.of(charges)).await().decisions();
        steps.add(new TraceStep(clock.micros(), charges, last, retry));
    }

    /** Repeats a rejected call when it can succeed for the first time, and just before. */
    private void retry(List<Charge> charges) {
        long after = retryAfter(last.get(0));
        if (after > 0 && clock.micros() + after < END) {
            clock.advance(after - 1);
            call(charges, Retry.TOO_EARLY);
            clock.advance(1);
            call(charges, Retry.IN_TIME);
        }
    }

    private long start() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(2);
            case 1 -> random.nextLong(END / 2);
            default -> TestClock.TODAY;
        };
    }

    private long permits(RateLimit limit) {
        long left = last.isEmpty()
                ? limit.capacity()
                : last.get(limits.indexOf(limit)).remaining();
        return switch (random.nextInt(12)) {
            case 0 -> 0;
            case 1 -> limit.capacity();
            case 2 -> limit.capacity() + 1;
            case 3 -> left;
            case 4, 5 -> mostThatFit(limit, left) + random.nextInt(2);
            case 6 -> random.nextLong(limit.capacity()) + 1;
            case 7 -> random.nextInt(20) == 0 ? Long.MAX_VALUE : TestRandom.logarithmic(random, 1, limit.capacity());
            default -> 1;
        };
    }

    /** As many as are left or, where permits can be reserved ahead, more. */
    private long mostThatFit(RateLimit limit, long left) {
        if (limit.maxWait().isZero()) {
            return left;
        }
        return largest(
                limit.capacity(),
                permits -> reference
                        .decide(StoreRequest.peek(new Charge(limit, "key", permits)))
                        .await()
                        .decision()
                        .allowed());
    }

    private static long largest(long most, LongPredicate fits) {
        long least = 0;
        long end = most;
        while (least < end) {
            long middle = (least + end + 1) / 2;
            if (fits.test(middle)) {
                least = middle;
            } else {
                end = middle - 1;
            }
        }
        return least;
    }

    /** The time to the next call. */
    private long step() {
        int one = random.nextInt(last.size());
        RateLimitDecision decision = last.get(one);
        RateLimit limit = limits.get(one);
        long retry = retryAfter(decision);
        long reset = TestClock.inMicros(decision.resetAfter());
        return switch (random.nextInt(14)) {
            case 0, 1 -> 0;
            case 2 -> 1;
            case 3 -> retry;
            case 4, 5 -> retry - 1;
            case 6 -> reset;
            case 7 -> reset - 1;
            case 8, 9 -> random.nextLong(10 * limit.numbers().reducedRate().timeOf(1, 0) + 1);
            case 10 -> random.nextLong(reset + 1);
            case 11 -> toNextWindow(limit) - random.nextInt(2);
            case 12 -> TestClock.inMicros(decision.delay()) - random.nextInt(2);
            default -> TestRandom.logarithmic(random, 1, 100_000_000_000_000L);
        };
    }

    private long toNextWindow(RateLimit limit) {
        return limit.fullMicros() - clock.micros() % limit.fullMicros();
    }

    private void advance(long step) {
        if (clock.micros() + step < END) {
            clock.advance(Math.max(0, step));
        }
    }

    private static long retryAfter(RateLimitDecision decision) {
        return decision.retryAfter() == null ? 0 : TestClock.inMicros(decision.retryAfter());
    }
}

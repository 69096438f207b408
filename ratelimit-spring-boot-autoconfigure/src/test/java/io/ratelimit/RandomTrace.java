package io.ratelimit;

import java.util.List;
import java.util.Random;

/** Draws calls and the times between them, with a liking for the edges. */
final class RandomTrace {

    /** Where the clock, and a bucket's time with it, must end to stay exact. */
    private static final long END = 1L << 52;

    private final Random random;

    private final List<RateLimit> limits;

    private List<RateLimitDecision> last = List.of();

    RandomTrace(Random random, List<RateLimit> limits) {
        this.random = random;
        this.limits = limits;
    }

    long start() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(2);
            case 1 -> random.nextLong(END / 2);
            default -> TestClock.TODAY;
        };
    }

    List<Charge> nextCharges() {
        return limits.stream()
                .map(limit -> new Charge(limit, "key", permits(limit)))
                .toList();
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
            case 4, 5 -> left + 1;
            case 6 -> random.nextLong(limit.capacity()) + 1;
            case 7 -> random.nextInt(20) == 0 ? Long.MAX_VALUE : TestRandom.logarithmic(random, 1, limit.capacity());
            default -> 1;
        };
    }

    /** When the next call comes. */
    long after(long now, List<RateLimitDecision> decisions) {
        last = decisions;
        int one = random.nextInt(decisions.size());
        RateLimitDecision decision = decisions.get(one);
        long retry = decision.retryAfter() == null ? 0 : TestClock.inMicros(decision.retryAfter());
        long reset = TestClock.inMicros(decision.resetAfter());
        long permitTime = limits.get(one).pace().timeOf(1, 0);
        long step = switch (random.nextInt(12)) {
            case 0, 1 -> 0;
            case 2 -> 1;
            case 3, 4 -> retry;
            case 5, 6 -> retry - 1;
            case 7 -> reset;
            case 8 -> reset - 1;
            case 9 -> random.nextLong(10 * permitTime + 1);
            case 10 -> random.nextLong(reset + 1);
            default -> TestRandom.logarithmic(random, 1, 100_000_000_000_000L);
        };
        return now + step >= END ? now : now + Math.max(0, step);
    }
}

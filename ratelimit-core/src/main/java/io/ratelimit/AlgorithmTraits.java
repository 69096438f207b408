package io.ratelimit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Describes what other code must know of an algorithm with its refill: one subclass for each. The defaults fit an
 * algorithm whose permits come back all together.
 */
@Internal
public abstract class AlgorithmTraits {

    /** What a decision says in place of a time if nothing tells when permits come back. */
    public static final long UNKNOWN_MICROS = 1_000_000;

    private static final AlgorithmTraits TOKEN_BUCKET = new TokenBucket();

    private static final AlgorithmTraits INTERVAL_BUCKET = new IntervalBucket();

    private static final AlgorithmTraits LEAKY_BUCKET = new LeakyBucket();

    private static final AlgorithmTraits FIXED_WINDOW = new FixedWindow();

    private static final AlgorithmTraits CALENDAR_WINDOW = new CalendarWindow();

    private static final AlgorithmTraits SLIDING_WINDOW = new SlidingWindow();

    private static final AlgorithmTraits SLIDING_WINDOW_LOG = new SlidingWindowLog();

    private static final AlgorithmTraits CONCURRENCY = new Concurrency();

    private static final AlgorithmTraits OWN = new Own();

    private final char letter;

    private AlgorithmTraits(char letter) {
        this.letter = letter;
    }

    public static AlgorithmTraits of(RateLimit limit) {
        return limit.traits;
    }

    /** @param rate of a limit that is valid otherwise */
    static AlgorithmTraits of(LimitAlgorithm algorithm, Refill refill, @Nullable Rate rate) {
        return rate == null || rate.calendarUnit() == null ? of(algorithm, refill) : CALENDAR_WINDOW;
    }

    static AlgorithmTraits of(LimitAlgorithm algorithm, Refill refill) {
        return algorithm.builtIn() == null ? OWN : of(algorithm.builtIn(), refill);
    }

    static AlgorithmTraits of(Algorithm algorithm, Refill refill) {
        return switch (algorithm) {
            case TOKEN_BUCKET -> refill == Refill.INTERVAL ? INTERVAL_BUCKET : TOKEN_BUCKET;
            case LEAKY_BUCKET -> LEAKY_BUCKET;
            case FIXED_WINDOW -> FIXED_WINDOW;
            case SLIDING_WINDOW -> SLIDING_WINDOW;
            case SLIDING_WINDOW_LOG -> SLIDING_WINDOW_LOG;
            case CONCURRENCY -> CONCURRENCY;
        };
    }

    /** Returns the letter of the Lua function that counts by this algorithm. */
    public final char letter() {
        return letter;
    }

    /** Returns the capacities with which the arithmetic is exact. */
    abstract CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait);

    /** Returns how to fix a capacity outside of {@link #capacities}. */
    String capacityAdvice() {
        return "Change it, or the rate.";
    }

    boolean allows(Refill refill) {
        return refill == Refill.CONTINUOUS;
    }

    /** Returns the permits that come back together, and how long after they were taken. */
    public abstract Rate batch(RateLimit limit);

    /** Whether permits come back when calls end, and not at a rate. Such a limit has no rate. */
    public boolean holdsPermits() {
        return false;
    }

    /** Whether a {@link #batch} is always the whole capacity. */
    public boolean isWindow() {
        return false;
    }

    /** Whether permits come back one after the other, in the order in which they were taken. */
    public boolean refillsEvenly() {
        return false;
    }

    /** Whether a call can take permits that are not back yet, and wait for them. */
    public boolean reservesAhead() {
        return refillsEvenly();
    }

    /** Whether an admitted call waits until all permits taken before it are back. */
    public boolean spacesCalls() {
        return false;
    }

    /** Whether the state has an entry for each call, so that a decision takes longer than with a few numbers. */
    public boolean hasEntries() {
        return false;
    }

    /** Whether the first call that takes permits starts a period, which ends early if that call is refunded. */
    public boolean startsPeriods() {
        return false;
    }

    /** Whether {@link #waitForMore} is known from the numbers of a rejection. */
    public boolean knowsWaitForMore() {
        return true;
    }

    /**
     * Returns how many microseconds longer than a rejected call one has to wait that asks for more.
     *
     * @param missing permits that the rejected call lacked
     * @param more permits beyond those of the rejected call
     */
    public long waitForMore(RateLimit limit, long missing, long more) {
        return 0;
    }

    /** Returns why permits taken in advance could exceed the limit; {@code null} if they cannot. */
    @Nullable
    String obstacleToLeases(Rate rate, long capacity) {
        return null;
    }

    /**
     * Returns for how many microseconds permits taken in advance count in the store.
     *
     * @param resetMicros until the bucket is full again
     */
    public long leaseMicros(RateLimit limit, long resetMicros) {
        return resetMicros;
    }

    /** Sets the rate of one instance, so that all instances together stay within the limit. */
    abstract void divide(RateLimit limit, int instances, RateLimitBuilder share);

    private static void slower(Rate rate, int instances, RateLimitBuilder share) {
        share.rate(rate(rate.permits(), Math.multiplyExact(rate.periodMicros(), instances)));
    }

    private static String rate(long permits, long micros) {
        return new Rate(permits, Duration.of(micros, ChronoUnit.MICROS)).toString();
    }

    /** Permits come back at the rate, as few at once as its numbers allow. */
    private abstract static class Gradual extends AlgorithmTraits {

        Gradual(char letter) {
            super(letter);
        }

        @Override
        public Rate batch(RateLimit limit) {
            return new Rate(
                    limit.reducedRate().permits(),
                    Duration.of(limit.reducedRate().micros(), ChronoUnit.MICROS));
        }

        @Override
        void divide(RateLimit limit, int instances, RateLimitBuilder share) {
            slower(batch(limit), instances, share);
        }
    }

    private static class TokenBucket extends Gradual {

        TokenBucket() {
            super('T');
        }

        @Override
        CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofEvenRefill(reduced, maxWait);
        }

        @Override
        boolean allows(Refill refill) {
            return true;
        }

        @Override
        public boolean refillsEvenly() {
            return true;
        }

        @Override
        public long waitForMore(RateLimit limit, long missing, long more) {
            return limit.reducedRate().timeOf(more, 0);
        }
    }

    /** Counts as a token bucket does, so that a limit can change between the two; admitted calls wait for their turn. */
    private static final class LeakyBucket extends TokenBucket {

        @Override
        boolean allows(Refill refill) {
            return refill == Refill.CONTINUOUS;
        }

        @Override
        public boolean spacesCalls() {
            return true;
        }

        @Override
        String obstacleToLeases(Rate rate, long capacity) {
            return "the slots of LEAKY_BUCKET are in the order of the calls";
        }
    }

    private static final class IntervalBucket extends AlgorithmTraits {

        IntervalBucket() {
            super('I');
        }

        @Override
        CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofIntervals(rate);
        }

        @Override
        boolean allows(Refill refill) {
            return true;
        }

        /** More than the capacity cannot come back at once. */
        @Override
        public Rate batch(RateLimit limit) {
            return new Rate(
                    Math.min(limit.rate().permits(), limit.capacity()),
                    limit.rate().period());
        }

        @Override
        public boolean startsPeriods() {
            return true;
        }

        @Override
        public long waitForMore(RateLimit limit, long missing, long more) {
            Rate batch = batch(limit);
            return (batches(missing + more, batch) - batches(missing, batch)) * batch.periodMicros();
        }

        private static long batches(long permits, Rate batch) {
            return (permits + batch.permits() - 1) / batch.permits();
        }

        @Override
        @Nullable
        String obstacleToLeases(Rate rate, long capacity) {
            return rate.permits() < capacity
                    ? "batches of " + rate.permits() + " do not fill the bucket of " + capacity
                            + ", so what is not handed out would shift its periods"
                    : null;
        }

        /** Batches that cannot be divided come one permit after the other: whole ones would be too much at once. */
        @Override
        void divide(RateLimit limit, int instances, RateLimitBuilder share) {
            Rate batch = batch(limit);
            if (batch.permits() % instances == 0) {
                share.refill(Refill.INTERVAL).rate(rate(batch.permits() / instances, batch.periodMicros()));
            } else {
                slower(batch, instances, share);
            }
        }
    }

    private abstract static class Window extends AlgorithmTraits {

        Window(char letter) {
            super(letter);
        }

        /** There is no arithmetic with the rate, unless the algorithm has some. */
        @Override
        CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait) {
            return new CapacityRange(1, RateLimit.MAX_CAPACITY);
        }

        @Override
        public Rate batch(RateLimit limit) {
            return new Rate(limit.capacity(), Duration.of(limit.fullMicros(), ChronoUnit.MICROS));
        }

        @Override
        public final boolean isWindow() {
            return true;
        }

        /** As long as the limit's; with less than one permit for each instance, as long as one permit takes. */
        @Override
        void divide(RateLimit limit, int instances, RateLimitBuilder share) {
            share.rate(
                    limit.capacity() < instances
                            ? rate(1, limit.reducedRate().fullMicros(instances))
                            : rate(limit.capacity() / instances, limit.fullMicros()));
        }
    }

    private static final class FixedWindow extends Window {

        FixedWindow() {
            super('F');
        }

        @Override
        CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofWindow(reduced, RateLimit.MAX_CAPACITY);
        }

        @Override
        public boolean startsPeriods() {
            return true;
        }
    }

    /** Fixed windows that are the units of a calendar. */
    private static final class CalendarWindow extends Window {

        CalendarWindow() {
            super('C');
        }

        @Override
        public Rate batch(RateLimit limit) {
            return limit.rate();
        }

        /** With less than one permit for each instance, a window in which one permit comes back. */
        @Override
        void divide(RateLimit limit, int instances, RateLimitBuilder share) {
            share.rate(
                    limit.capacity() < instances
                            ? rate(1, limit.reducedRate().fullMicros(instances))
                            : limit.capacity() / instances + "/" + limit.rate().calendarUnit());
        }
    }

    private static final class SlidingWindow extends Window {

        SlidingWindow() {
            super('S');
        }

        @Override
        CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofAlignedWindows(reduced);
        }

        @Override
        public boolean knowsWaitForMore() {
            return false;
        }

        /** From the end of the window on, its permits are in view for as long as it lasted. */
        @Override
        public long leaseMicros(RateLimit limit, long resetMicros) {
            return resetMicros - limit.fullMicros();
        }
    }

    private static final class Concurrency extends Window {

        Concurrency() {
            super('H');
        }

        /** Permits that are neither released nor renewed come back together. */
        @Override
        public Rate batch(RateLimit limit) {
            return new Rate(limit.capacity(), limit.hold());
        }

        @Override
        public boolean holdsPermits() {
            return true;
        }

        @Override
        public boolean knowsWaitForMore() {
            return false;
        }

        @Override
        String obstacleToLeases(Rate rate, long capacity) {
            return "a call of CONCURRENCY releases its permits when it ends";
        }

        /** Its capacity is divided, and there is nothing else. */
        @Override
        void divide(RateLimit limit, int instances, RateLimitBuilder share) {}
    }

    private static final class SlidingWindowLog extends Window {

        SlidingWindowLog() {
            super('L');
        }

        @Override
        CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofWindow(reduced, CapacityRange.LARGEST_LOG);
        }

        @Override
        String capacityAdvice() {
            return "Change it, or use SLIDING_WINDOW, which does not store an entry for each permit.";
        }

        @Override
        public boolean hasEntries() {
            return true;
        }

        @Override
        public boolean knowsWaitForMore() {
            return false;
        }

        @Override
        String obstacleToLeases(Rate rate, long capacity) {
            return "an entry of SLIDING_WINDOW_LOG has the time of its call";
        }
    }

    /** An algorithm of the application. No more is known of it than its functions. */
    private static final class Own extends Gradual {

        Own() {
            super('X');
        }

        @Override
        CapacityRange capacities(Rate rate, ReducedRate reduced, Duration maxWait) {
            return CapacityRange.ofProduct(reduced);
        }

        @Override
        public boolean knowsWaitForMore() {
            return false;
        }

        @Override
        String obstacleToLeases(Rate rate, long capacity) {
            return "an algorithm of the application decides when permits come back";
        }
    }
}

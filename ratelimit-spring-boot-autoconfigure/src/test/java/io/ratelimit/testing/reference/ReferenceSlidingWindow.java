package io.ratelimit.testing.reference;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts what is taken in each window, all of one length, the first of them beginning at the epoch. Of the previous
 * window as much counts as is still in view when one looks back by a window's length.
 */
final class ReferenceSlidingWindow implements ReferenceBucket {

    private final Fraction length;

    /** What was taken, by the number of the window. */
    private final Map<Long, Long> counts = new HashMap<>();

    ReferenceSlidingWindow(Fraction length) {
        this.length = length;
    }

    @Override
    public Fraction used(long now) {
        long window = window(now);
        Fraction inView = end(window).minus(Fraction.of(now)).dividedBy(length);
        return count(window - 1).times(inView).plus(count(window));
    }

    @Override
    public void take(long now, long permits, Object call) {
        counts.merge(window(now), permits, Long::sum);
    }

    /** The count of a window is cut. */
    @Override
    public void witness(long now, long permits, long capacity) {
        long count = counts.getOrDefault(window(now), 0L);
        take(now, Math.min(permits, capacity - count), new Object());
    }

    /** What was taken last is in the current window; of the previous window, permits count only as far as they are in view. */
    @Override
    public void grant(long now, long permits) {
        long window = window(now);
        long current = counts.getOrDefault(window, 0L);
        long previous = counts.getOrDefault(window - 1, 0L);
        counts.put(window, Math.max(0, current - permits));
        Fraction inView = end(window).minus(Fraction.of(now)).dividedBy(length);
        Fraction others = Fraction.of(Math.max(0, permits - current)).dividedBy(inView);
        counts.put(
                window - 1,
                Fraction.of(previous).minus(others).atLeast(Fraction.ZERO).floor());
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        if (used(now).compareTo(mostUsed) <= 0) {
            return Fraction.ZERO;
        }
        // What is taken in this window counts in full until its end, and only then fades.
        long window = count(window(now)).compareTo(mostUsed) <= 0 ? window(now) : window(now) + 1;
        Fraction leftForPrevious = mostUsed.minus(count(window));
        Fraction timeInView = leftForPrevious.dividedBy(count(window - 1)).times(length);
        return end(window).minus(timeInView).minus(Fraction.of(now));
    }

    private long window(long now) {
        return Fraction.of(now).dividedBy(length).floor();
    }

    private Fraction end(long window) {
        return Fraction.of(window + 1).times(length);
    }

    private Fraction count(long window) {
        return Fraction.of(counts.getOrDefault(window, 0L));
    }
}

package io.ratelimit.testing.reference;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts what is taken in each window, all of one length, the first of them beginning at the epoch. Of the previous
 * window as much counts as is still in view when one looks back by a window's length. What a window has beyond the capacity
 * when it ends counts in the next one instead.
 */
final class ReferenceSlidingWindow implements ReferenceBucket {

    private final Fraction length;

    /** What was taken, by the number of the window. */
    private final Map<Long, Long> counts = new HashMap<>();

    /** The windows of calls. */
    private final Map<Object, Long> calls = new HashMap<>();

    private final long capacity;

    ReferenceSlidingWindow(Fraction length, long capacity) {
        this.length = length;
        this.capacity = capacity;
    }

    @Override
    public Fraction used(long now) {
        long window = window(now);
        Fraction inView = end(window).minus(Fraction.of(now)).dividedBy(length);
        return count(window - 1).times(inView).plus(count(window));
    }

    @Override
    public void take(long now, long permits, Object call) {
        calls.put(call, window(now));
        counts.merge(window(now), permits, Long::sum);
    }

    @Override
    public void refund(long now, Object call, long permits) {
        long current = window(now);
        Long window = calls.get(call);
        if (window != null && window >= current - 1) {
            counts.computeIfPresent(window, (number, count) -> Math.max(0, count - permits));
        }
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
        long window = window(now);
        if (count(window).compareTo(mostUsed) > 0) {
            Map<Long, Long> present = new HashMap<>(counts);
            do {
                window++;
                carryInto(window);
            } while (count(window).compareTo(mostUsed) > 0);
            Fraction until = timeUntil(now, mostUsed, window);
            counts.clear();
            counts.putAll(present);
            return until;
        }
        return timeUntil(now, mostUsed, window);
    }

    private Fraction timeUntil(long now, Fraction mostUsed, long window) {
        Fraction leftForPrevious = mostUsed.minus(count(window));
        Fraction timeInView = leftForPrevious.dividedBy(count(window - 1)).times(length);
        return end(window).minus(timeInView).minus(Fraction.of(now));
    }

    private long window(long now) {
        long window = Fraction.of(now).dividedBy(length).floor();
        long last = counts.keySet().stream().mapToLong(Long::longValue).max().orElse(window);
        while (last < window && counts.getOrDefault(last, 0L) > capacity) {
            last++;
            carryInto(last);
        }
        return window;
    }

    private void carryInto(long window) {
        long over = counts.getOrDefault(window - 1, 0L) - capacity;
        if (over > 0) {
            counts.put(window - 1, capacity);
            counts.merge(window, over, Long::sum);
        }
    }

    private Fraction end(long window) {
        return Fraction.of(window + 1).times(length);
    }

    private Fraction count(long window) {
        return Fraction.of(counts.getOrDefault(window, 0L));
    }
}

package io.ratelimit.memory;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;

/**
 * Room for the entries of logs that succeed one another. What is there never changes. A log adds behind its own entries
 * what its successor has besides: so entries are copied only where there is no more room, or far too much.
 */
final class LogEntries {

    static final LogEntries NONE = new LogEntries(0);

    private static final int LEAST_ROOM = 4;

    private final long[] times;

    /** The permits of all entries up to each. */
    private final long[] totals;

    private final AtomicInteger count = new AtomicInteger();

    private LogEntries(int room) {
        this.times = new long[room];
        this.totals = new long[room];
    }

    /** Those of a range, with room for as many again. */
    static LogEntries copyOf(LogEntries entries, int from, int to) {
        int size = to - from;
        LogEntries copy = new LogEntries(Math.max(LEAST_ROOM, 2 * size));
        long start = entries.totalBefore(from);
        System.arraycopy(entries.times, from, copy.times, 0, size);
        for (int i = 0; i < size; i++) {
            copy.totals[i] = entries.totals[from + i] - start;
        }
        copy.count.set(size);
        return copy;
    }

    /**
     * Adds an entry with a number.
     *
     * @param size how many of the entries are still needed
     * @return false if another log has that number, there is no room, or too much of it
     */
    boolean add(int number, int size, long time, long permits) {
        if (number == times.length
                || times.length > LEAST_ROOM * (size + 1)
                || !count.compareAndSet(number, number + 1)) {
            return false;
        }
        times[number] = time;
        totals[number] = totalBefore(number) + permits;
        return true;
    }

    int room() {
        return times.length;
    }

    long time(int i) {
        return times[i];
    }

    long permits(int i) {
        return totals[i] - totalBefore(i);
    }

    /** The permits of all entries before that number. */
    long totalBefore(int i) {
        return i == 0 ? 0 : totals[i - 1];
    }

    /** The first entry after a time; {@code to} if there is none. */
    int firstAfter(long time, int from, int to) {
        return first(from, to, i -> times[i] > time);
    }

    /** The first entry that more permits than so many are taken with. */
    int firstBeyond(long total, int from, int to) {
        return first(from, to, i -> totals[i] > total);
    }

    /** The newest entry of so many permits at a time, or one before the range. */
    int newestOf(long time, long permits, int from, int to) {
        int i = firstAfter(time, from, to) - 1;
        while (i >= from && times[i] == time && permits(i) != permits) {
            i--;
        }
        return i >= from && times[i] == time ? i : from - 1;
    }

    /** Of those for which something holds from one on. It often does for the very first. */
    private static int first(int from, int to, IntPredicate holds) {
        int low = from;
        int high = to;
        for (int middle = low; low < high; middle = (low + high) >>> 1) {
            if (holds.test(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
}

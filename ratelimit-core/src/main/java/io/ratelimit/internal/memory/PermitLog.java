package io.ratelimit.internal.memory;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;

/**
 * Records when permits were taken: entries, the oldest first, each with the permits of all entries up to it, so that the
 * entry of the n-th permit is found by bisection. Immutable. A log and its successors share the room for their entries, which
 * are copied only if there is no more room, or far too much.
 *
 * @param from index of the oldest entry of this log
 * @param to index behind the newest entry
 * @param since when the newest entry was added
 * @param before permits of all entries, and perhaps of a part of the oldest one, that this log no longer counts
 */
record PermitLog(Entries entries, int from, int to, long since, long before) implements Usage {

    private static final int LEAST_ROOM = 4;

    private static final Entries NO_ENTRIES = new Entries(0);

    static PermitLog empty(long now) {
        return new PermitLog(NO_ENTRIES, 0, 0, now, 0);
    }

    int size() {
        return to - from;
    }

    /** Returns how many entries fit before they are copied. */
    int room() {
        return entries.times.length;
    }

    long used() {
        return entries.totalBefore(to) - before;
    }

    /** Without the entries, which a refund finds by their time. */
    @Override
    public CounterState receipt() {
        return new CounterState(used(), since, 0);
    }

    PermitLog with(long time, long permits) {
        boolean fits = to < room() && room() <= LEAST_ROOM * (size() + 1);
        if (fits && entries.added.compareAndSet(to, to + 1)) {
            return added(time, permits);
        }
        PermitLog copy = copyUpTo(to);
        copy.entries.added.set(copy.to + 1);
        return copy.added(time, permits);
    }

    private PermitLog added(long time, long permits) {
        entries.times[to] = time;
        entries.totals[to] = entries.totalBefore(to) + permits;
        return new PermitLog(entries, from, to + 1, time, before);
    }

    /** Copies the entries before an index, with room for as many again. */
    private PermitLog copyUpTo(int end) {
        int size = end - from;
        Entries copy = new Entries(Math.max(LEAST_ROOM, 2 * size));
        System.arraycopy(entries.times, from, copy.times, 0, size);
        for (int i = 0; i < size; i++) {
            copy.totals[i] = entries.totals[from + i] - entries.totalBefore(from);
        }
        copy.added.set(size);
        return new PermitLog(copy, 0, size, since, before - entries.totalBefore(from));
    }

    /** Returns the log without the entries up to a time. */
    PermitLog after(long time) {
        return startingAt(firstAfter(time));
    }

    /** Returns the log without the oldest entries, as long as so many permits are left. */
    PermitLog newest(long permits) {
        return used() <= permits ? this : startingAt(firstBeyond(used() - permits));
    }

    /** Returns the log without the newest permits, so that so many are left: at least 1, fewer than there are. */
    PermitLog oldest(long permits) {
        int last = firstBeyond(permits - 1);
        PermitLog log = copyUpTo(last);
        return log.with(entries.times[last], permits - log.used());
    }

    /**
     * Returns the log without the newest entry of so many permits at a time, if there is one, or with less permits in it.
     *
     * @param less how many permits are removed from the entry
     */
    PermitLog without(long time, long permits, long less) {
        int found = indexOf(time, permits);
        if (found < from) {
            return this;
        }
        PermitLog log = copyUpTo(found);
        if (less < permits) {
            log = log.with(time, permits - less);
        }
        for (int i = found + 1; i < to; i++) {
            log = log.with(entries.times[i], entries.permits(i));
        }
        long newest = log.size() == 0 ? since : log.entries.times[log.to - 1];
        return new PermitLog(
                log.entries,
                0,
                log.to,
                newest,
                Math.min(before, entries.totals[found] - less) - entries.totalBefore(from));
    }

    /** Returns the log with that entry, but without as many of its oldest permits. */
    PermitLog withoutOldest(long time, long permits, long less) {
        int found = indexOf(time, permits);
        long gone = found < from ? before : before + Math.min(less, entries.totals[found] - before);
        return new PermitLog(entries, first(i -> entries.totals[i] > gone), to, since, gone);
    }

    /** Returns the index of the newest entry of so many permits at a time; one that is below {@code from} if there is none. */
    private int indexOf(long time, long permits) {
        int found = firstAfter(time) - 1;
        while (found >= from && entries.times[found] == time && entries.permits(found) != permits) {
            found--;
        }
        return found < from || entries.times[found] != time ? from - 1 : found;
    }

    /** Returns when the last of the so many oldest permits was taken. */
    long timeOf(long permits) {
        return entries.times[firstBeyond(permits - 1)];
    }

    private int firstAfter(long time) {
        return first(i -> entries.times[i] > time);
    }

    private int firstBeyond(long permits) {
        long total = before + permits;
        return first(i -> entries.totals[i] > total);
    }

    /** Returns the first index for which a condition holds that holds for all later ones. Tests the oldest entry first. */
    private int first(IntPredicate holds) {
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

    private PermitLog startingAt(int first) {
        return first == from
                ? this
                : new PermitLog(entries, first, to, since, Math.max(before, entries.totalBefore(first)));
    }

    /** The entries of logs that succeed one another. An entry never changes once it is added. */
    private static final class Entries {

        private final long[] times;

        /** The permits of all entries up to each. */
        private final long[] totals;

        private final AtomicInteger added = new AtomicInteger();

        Entries(int size) {
            this.times = new long[size];
            this.totals = new long[size];
        }

        long totalBefore(int i) {
            return i == 0 ? 0 : totals[i - 1];
        }

        long permits(int i) {
            return totals[i] - totalBefore(i);
        }
    }
}

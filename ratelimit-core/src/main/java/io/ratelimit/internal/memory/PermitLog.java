package io.ratelimit.internal.memory;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;

/**
 * Records when permits were taken: entries, the oldest first, each with the permits of all entries up to it, so that the
 * entry of the n-th permit is found by bisection. Immutable. A log and its successors share the room for their entries, which
 * are copied only if there is no more room, or far too much.
 */
final class PermitLog implements Usage {

    private static final int LEAST_ROOM = 4;

    private static final Entries NO_ENTRIES = new Entries(0);

    private final Entries room;

    /** Index of the oldest entry of this log. */
    private final int from;

    /** Index behind the newest entry. */
    private final int to;

    private final long since;

    /** Permits of all entries, and perhaps of a part of the oldest one, that this log no longer counts. */
    private final long before;

    private PermitLog(Entries room, int from, int to, long since, long before) {
        this.room = room;
        this.from = from;
        this.to = to;
        this.since = since;
        this.before = before;
    }

    static PermitLog empty(long now) {
        return new PermitLog(NO_ENTRIES, 0, 0, now, 0);
    }

    int size() {
        return to - from;
    }

    /** Returns how many entries fit before they are copied. */
    int room() {
        return room.times.length;
    }

    /** Returns the permits of all entries. */
    long used() {
        return room.totalBefore(to) - before;
    }

    /** When the newest entry was added. */
    @Override
    public long since() {
        return since;
    }

    /** Without the entries, which a refund finds by their time. */
    @Override
    public CounterState receipt() {
        return new CounterState(used(), since, 0);
    }

    PermitLog with(long time, long permits) {
        boolean fits = to < room() && room() <= LEAST_ROOM * (size() + 1);
        if (fits && room.added.compareAndSet(to, to + 1)) {
            return added(time, permits);
        }
        PermitLog copy = copyUpTo(to);
        copy.room.added.set(copy.to + 1);
        return copy.added(time, permits);
    }

    private PermitLog added(long time, long permits) {
        room.times[to] = time;
        room.totals[to] = room.totalBefore(to) + permits;
        return new PermitLog(room, from, to + 1, time, before);
    }

    /** Copies the entries before an index, with room for as many again. */
    private PermitLog copyUpTo(int end) {
        int size = end - from;
        Entries copy = new Entries(Math.max(LEAST_ROOM, 2 * size));
        System.arraycopy(room.times, from, copy.times, 0, size);
        for (int i = 0; i < size; i++) {
            copy.totals[i] = room.totals[from + i] - room.totalBefore(from);
        }
        copy.added.set(size);
        return new PermitLog(copy, 0, size, since, before - room.totalBefore(from));
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
        return log.with(room.times[last], permits - log.used());
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
            log = log.with(room.times[i], room.permits(i));
        }
        long newest = log.size() == 0 ? since : log.room.times[log.to - 1];
        return new PermitLog(
                log.room, 0, log.to, newest, Math.min(before, room.totals[found] - less) - room.totalBefore(from));
    }

    /** Returns the log with that entry, but without as many of its oldest permits. */
    PermitLog withoutOldest(long time, long permits, long less) {
        int found = indexOf(time, permits);
        long gone = found < from ? before : before + Math.min(less, room.totals[found] - before);
        return new PermitLog(room, first(i -> room.totals[i] > gone), to, since, gone);
    }

    /** Returns the index of the newest entry of so many permits at a time; one that is below {@code from} if there is none. */
    private int indexOf(long time, long permits) {
        int found = firstAfter(time) - 1;
        while (found >= from && room.times[found] == time && room.permits(found) != permits) {
            found--;
        }
        return found < from || room.times[found] != time ? from - 1 : found;
    }

    /** Returns when the last of the so many oldest permits was taken. */
    long timeOf(long permits) {
        return room.times[firstBeyond(permits - 1)];
    }

    private int firstAfter(long time) {
        return first(i -> room.times[i] > time);
    }

    private int firstBeyond(long permits) {
        long total = before + permits;
        return first(i -> room.totals[i] > total);
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
        return first == from ? this : new PermitLog(room, first, to, since, Math.max(before, room.totalBefore(first)));
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

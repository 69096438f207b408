package io.ratelimit.memory;

import org.jspecify.annotations.Nullable;

/**
 * When permits were taken: a queue that is never changed, only succeeded by another. Entries are taken from the front and
 * put on the back; when the front has run out the back is turned over, so that on average an entry costs the same however
 * many there are.
 *
 * @param used permits of all entries
 * @param since when the newest entry was made
 * @param front the oldest entry; {@code null} if there is none at all
 * @param back the newest entry, if it is not in front
 */
record Log(
        long used,
        long since,
        @Nullable Entry front,
        @Nullable Entry back) implements Usage {

    /** An entry and those behind it: newer ones in the front, older ones in the back. */
    record Entry(long time, long permits, @Nullable Entry next) {}

    static Log empty(long now) {
        return new Log(0, now, null, null);
    }

    /** Without the entries: those of others need not be kept for it. */
    @Override
    public Count receipt() {
        return new Count(used, since, 0);
    }

    Log with(long time, long permits) {
        return front == null
                ? new Log(permits, time, new Entry(time, permits, null), null)
                : new Log(used + permits, time, front, new Entry(time, permits, back));
    }

    /** Without the oldest entries: those up to a time. */
    Log after(long time) {
        Log log = this;
        while (log.front != null && log.front.time <= time) {
            log = log.withoutOldest(log.front);
        }
        return log;
    }

    /** Without the oldest entries, as long as so many permits are left. */
    Log newest(long permits) {
        Log log = this;
        while (log.front != null && log.used - log.front.permits >= permits) {
            log = log.withoutOldest(log.front);
        }
        return log;
    }

    /** Without the newest entry of so many permits at a time, if there is one. */
    Log without(long time, long permits) {
        Entry inBack = newestFirst(back, time, permits);
        if (inBack != null) {
            return withoutOne(permits, front, removed(back, inBack));
        }
        Entry inFront = lastOldestFirst(front, time, permits);
        return inFront == null ? this : withoutOne(permits, removed(front, inFront), back);
    }

    private static @Nullable Entry newestFirst(@Nullable Entry entries, long time, long permits) {
        for (Entry entry = entries; entry != null && entry.time >= time; entry = entry.next) {
            if (entry.time == time && entry.permits == permits) {
                return entry;
            }
        }
        return null;
    }

    private static @Nullable Entry lastOldestFirst(@Nullable Entry entries, long time, long permits) {
        Entry last = null;
        for (Entry entry = entries; entry != null && entry.time <= time; entry = entry.next) {
            if (entry.time == time && entry.permits == permits) {
                last = entry;
            }
        }
        return last;
    }

    @SuppressWarnings("ReferenceEquality") // The very entry, not one like it.
    private static @Nullable Entry removed(@Nullable Entry entries, Entry removed) {
        Entry before = null;
        for (Entry entry = entries; entry != null && entry != removed; entry = entry.next) {
            before = new Entry(entry.time, entry.permits, before);
        }
        Entry rest = removed.next;
        for (Entry entry = before; entry != null; entry = entry.next) {
            rest = new Entry(entry.time, entry.permits, rest);
        }
        return rest;
    }

    private Log withoutOne(long permits, @Nullable Entry newFront, @Nullable Entry newBack) {
        Entry first = newFront == null ? turned(newBack) : newFront;
        Entry last = newFront == null ? null : newBack;
        return first == null ? empty(since) : new Log(used - permits, newest(first, last), first, last);
    }

    private static long newest(Entry front, @Nullable Entry back) {
        if (back != null) {
            return back.time;
        }
        Entry last = front;
        for (Entry entry = front; entry != null; entry = entry.next) {
            last = entry;
        }
        return last.time;
    }

    /** When the last of the so many oldest permits was taken. */
    long timeOf(long permits) {
        long left = permits;
        long time = since;
        for (Entry entry = front; entry != null && left > 0; entry = entry.next) {
            left -= entry.permits;
            time = entry.time;
        }
        for (Entry entry = left > 0 ? turned(back) : null; entry != null && left > 0; entry = entry.next) {
            left -= entry.permits;
            time = entry.time;
        }
        return time;
    }

    private Log withoutOldest(Entry oldest) {
        return oldest.next != null
                ? new Log(used - oldest.permits, since, oldest.next, back)
                : new Log(used - oldest.permits, since, turned(back), null);
    }

    private static @Nullable Entry turned(@Nullable Entry back) {
        Entry front = null;
        for (Entry entry = back; entry != null; entry = entry.next) {
            front = new Entry(entry.time, entry.permits, front);
        }
        return front;
    }
}

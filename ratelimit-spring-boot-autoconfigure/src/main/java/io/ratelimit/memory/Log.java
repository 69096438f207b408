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

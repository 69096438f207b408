package io.ratelimit.memory;

/**
 * When permits were taken: entries, the oldest first, that are never changed, only succeeded by others. Each carries the
 * permits of all entries up to it, so that one in so many is found by bisection.
 */
final class PermitLog implements Usage {

    private final LogEntries entries;

    /** Of the entries, the number of the oldest that is this log's. */
    private final int from;

    /** The number behind that of the newest. */
    private final int to;

    private final long since;

    private PermitLog(LogEntries entries, int from, int to, long since) {
        this.entries = entries;
        this.from = from;
        this.to = to;
        this.since = since;
    }

    static PermitLog empty(long now) {
        return new PermitLog(LogEntries.NONE, 0, 0, now);
    }

    int size() {
        return to - from;
    }

    /** How many entries there could be before they are copied. */
    int room() {
        return entries.room();
    }

    /** Permits of all entries. */
    long used() {
        return entries.totalBefore(to) - start();
    }

    /** When the newest entry was made. */
    @Override
    public long since() {
        return since;
    }

    /** Without the entries: those of others need not be kept for it. */
    @Override
    public CounterState receipt() {
        return new CounterState(used(), since, 0);
    }

    PermitLog with(long time, long permits) {
        if (entries.add(to, size(), time, permits)) {
            return new PermitLog(entries, from, to + 1, time);
        }
        LogEntries copy = LogEntries.copyOf(entries, from, to);
        copy.add(size(), size(), time, permits);
        return new PermitLog(copy, 0, size() + 1, time);
    }

    /** Without the oldest entries: those up to a time. */
    PermitLog after(long time) {
        return startingAt(entries.firstAfter(time, from, to));
    }

    /** Without the oldest entries, as long as so many permits are left. */
    PermitLog newest(long permits) {
        return used() <= permits ? this : startingAt(firstBeyond(used() - permits));
    }

    /** Without the newest entry of so many permits at a time, if there is one. */
    PermitLog without(long time, long permits) {
        int found = entries.newestOf(time, permits, from, to);
        if (found < from) {
            return this;
        }
        PermitLog log = new PermitLog(LogEntries.copyOf(entries, from, found), 0, found - from, since);
        for (int i = found + 1; i < to; i++) {
            log = log.with(entries.time(i), entries.permits(i));
        }
        return log.size() == 0 ? log : new PermitLog(log.entries, 0, log.to, log.entries.time(log.to - 1));
    }

    /** When the last of the so many oldest permits was taken. */
    long timeOf(long permits) {
        return entries.time(firstBeyond(permits - 1));
    }

    private int firstBeyond(long permits) {
        return entries.firstBeyond(start() + permits, from, to);
    }

    private PermitLog startingAt(int first) {
        return first == from ? this : new PermitLog(entries, first, to, since);
    }

    private long start() {
        return entries.totalBefore(from);
    }
}

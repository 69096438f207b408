package io.ratelimit.internal.statistics;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;

/** Counts the keys that one limit has rejected in the last five minutes, each minute on its own. */
final class RejectedKeys {

    private static final int MINUTES = 5;

    /** In each minute. */
    private static final int COUNTERS = 100;

    /** In a report. */
    static final int MOST = 50;

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanos;

    /** The last one under way. */
    private final Deque<Minute> minutes = new ArrayDeque<>();

    private boolean changed;

    RejectedKeys(LongSupplier nanos) {
        this.nanos = nanos;
    }

    synchronized void add(String key) {
        long begin = forgetOld();
        if (minutes.isEmpty() || minutes.getLast().begin != begin) {
            minutes.add(new Minute(begin, new HeavyHitters(COUNTERS)));
        }
        minutes.getLast().keys.add(key);
        changed = true;
    }

    /** Returns when the present minute has begun. */
    private long forgetOld() {
        long now = nanos.getAsLong();
        long begin = now - Math.floorMod(now, MINUTE);
        while (!minutes.isEmpty() && begin - minutes.getFirst().begin >= MINUTES * MINUTE) {
            minutes.removeFirst();
            changed = true;
        }
        return begin;
    }

    /** Returns whether the report is another one than when this method was last called. */
    synchronized boolean takeChanged() {
        forgetOld();
        boolean was = changed;
        changed = false;
        return was;
    }

    synchronized KeyReport report() {
        forgetOld();
        List<KeyReport> reports = new ArrayList<>();
        minutes.forEach(minute -> reports.add(minute.keys.report()));
        return KeyReport.sum(reports, MOST);
    }

    private record Minute(long begin, HeavyHitters keys) {}
}

package io.ratelimit.testing.reference;

import java.util.ArrayList;
import java.util.List;

/** Remembers every permit that was ever taken; it is in use for the length of the window. */
final class ReferenceLog implements ReferenceBucket {

    private final Fraction length;

    private final List<Entry> entries = new ArrayList<>();

    ReferenceLog(Fraction length) {
        this.length = length;
    }

    @Override
    public Fraction used(long now) {
        return Fraction.of(entries.stream()
                .filter(entry -> isInView(entry, now))
                .mapToLong(Entry::permits)
                .sum());
    }

    @Override
    public void take(long now, long permits, Object call) {
        entries.add(Entry.until(Fraction.of(now).plus(length), permits, call));
    }

    @Override
    public void refund(long now, Object call, long permits) {
        entries.replaceAll(entry -> entry.call == call && isInView(entry, now)
                ? new Entry(entry.end, entry.over, entry.permits - permits, call)
                : entry);
    }

    /** Keeps the newest permits. */
    @Override
    public void witness(long now, long permits, long capacity) {
        take(now, permits, new Object());
        long room = capacity;
        for (int i = entries.size() - 1; i >= 0; i--) {
            Entry entry = entries.get(i);
            long kept = Math.min(entry.permits, room);
            entries.set(i, Entry.until(entry.end, kept, entry.call));
            room -= kept;
        }
    }

    @Override
    public void grant(long now, long permits) {
        long left = permits;
        for (int i = entries.size() - 1; i >= 0; i--) {
            Entry entry = entries.get(i);
            long removed = Math.min(entry.permits, left);
            entries.set(i, new Entry(entry.end, entry.over, entry.permits - removed, entry.call));
            left -= removed;
        }
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        Fraction used = used(now);
        Fraction end = Fraction.of(now);
        for (Entry entry : entries) {
            if (isInView(entry, now) && used.compareTo(mostUsed) > 0) {
                used = used.minus(Fraction.of(entry.permits));
                end = entry.end;
            }
        }
        return end.minus(Fraction.of(now));
    }

    private static boolean isInView(Entry entry, long now) {
        return now < entry.over;
    }

    /** @param over the first whole microsecond at which the permits are no longer in use */
    private record Entry(Fraction end, long over, long permits, Object call) {

        static Entry until(Fraction end, long permits, Object call) {
            return new Entry(end, end.ceiling(), permits, call);
        }
    }
}

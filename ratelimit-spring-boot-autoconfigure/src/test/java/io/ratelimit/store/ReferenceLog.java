package io.ratelimit.store;

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
    public void take(long now, long permits) {
        entries.add(new Entry(Fraction.of(now).plus(length), permits));
    }

    /** Keeps the newest permits. */
    @Override
    public void witness(long now, long permits, long capacity) {
        take(now, permits);
        long room = capacity;
        for (int i = entries.size() - 1; i >= 0; i--) {
            Entry entry = entries.get(i);
            long kept = Math.min(entry.permits, room);
            entries.set(i, new Entry(entry.end, kept));
            room -= kept;
        }
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        Fraction used = used(now);
        Fraction end = Fraction.of(now);
        for (Entry entry : entries) {
            if (used.compareTo(mostUsed) > 0 && isInView(entry, now)) {
                used = used.minus(Fraction.of(entry.permits));
                end = entry.end;
            }
        }
        return end.minus(Fraction.of(now));
    }

    private static boolean isInView(Entry entry, long now) {
        return Fraction.of(now).compareTo(entry.end) < 0;
    }

    private record Entry(Fraction end, long permits) {}
}

package io.ratelimit;

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
        return usedAt(Fraction.of(now));
    }

    @Override
    public void take(long now, long permits) {
        entries.add(new Entry(Fraction.of(now).plus(length), permits));
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        if (used(now).compareTo(mostUsed) <= 0) {
            return Fraction.ZERO;
        }
        return entries.stream()
                .map(Entry::end)
                .filter(end -> end.compareTo(Fraction.of(now)) > 0)
                .filter(end -> usedAt(end).compareTo(mostUsed) <= 0)
                .findFirst()
                .orElseThrow()
                .minus(Fraction.of(now));
    }

    private Fraction usedAt(Fraction now) {
        return Fraction.of(entries.stream()
                .filter(entry -> now.compareTo(entry.end) < 0)
                .mapToLong(Entry::permits)
                .sum());
    }

    private record Entry(Fraction end, long permits) {}
}

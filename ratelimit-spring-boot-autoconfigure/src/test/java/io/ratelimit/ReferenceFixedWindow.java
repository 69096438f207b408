package io.ratelimit;

/** Counts what is taken in a window; the next opens with the first call that takes something after its end. */
final class ReferenceFixedWindow implements ReferenceBucket {

    private final Fraction capacity;

    private final Fraction length;

    private Fraction end = Fraction.ZERO;

    private long count;

    ReferenceFixedWindow(Fraction capacity, Fraction length) {
        this.capacity = capacity;
        this.length = length;
    }

    private boolean isOpen(long now) {
        return count > 0 && Fraction.of(now).compareTo(end) < 0;
    }

    @Override
    public Fraction available(long now) {
        return isOpen(now) ? capacity.minus(Fraction.of(count)) : capacity;
    }

    @Override
    public void take(long now, long permits) {
        if (!isOpen(now)) {
            count = 0;
            end = Fraction.of(now).plus(length);
        }
        count += permits;
    }

    @Override
    public Fraction timeUntil(long now, Fraction permits) {
        return permits.compareTo(available(now)) <= 0 ? Fraction.ZERO : end.minus(Fraction.of(now));
    }
}

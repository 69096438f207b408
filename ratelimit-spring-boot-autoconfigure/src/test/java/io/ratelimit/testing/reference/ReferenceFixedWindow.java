package io.ratelimit.testing.reference;

/** Counts what is taken in a window; the next opens with the first call that takes something after its end. */
final class ReferenceFixedWindow implements ReferenceBucket {

    private final Fraction length;

    private Fraction end = Fraction.ZERO;

    private long count;

    ReferenceFixedWindow(Fraction length) {
        this.length = length;
    }

    private boolean isOpen(long now) {
        return count > 0 && Fraction.of(now).compareTo(end) < 0;
    }

    @Override
    public Fraction used(long now) {
        return isOpen(now) ? Fraction.of(count) : Fraction.ZERO;
    }

    @Override
    public void take(long now, long permits, Object call) {
        if (!isOpen(now)) {
            count = 0;
            end = Fraction.of(now).plus(length);
        }
        count += permits;
    }

    @Override
    public void grant(long now, long permits) {
        count = isOpen(now) ? Math.max(0, count - permits) : 0;
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        return used(now).compareTo(mostUsed) <= 0 ? Fraction.ZERO : end.minus(Fraction.of(now));
    }
}

package io.ratelimit.testing.reference;

/**
 * Holds tokens. The call that takes from a full bucket starts a period, and at the end of this and of each period after
 * it a batch of tokens arrives, until the bucket is full.
 */
final class ReferenceIntervals implements ReferenceBucket {

    private final Fraction capacity;

    private final Fraction batch;

    private final Fraction period;

    private Fraction tokens;

    private Fraction nextBatch = Fraction.ZERO;

    ReferenceIntervals(Fraction capacity, Fraction batch, Fraction period) {
        this.capacity = capacity;
        this.batch = batch;
        this.period = period;
        this.tokens = capacity;
    }

    @Override
    public Fraction used(long now) {
        Fraction elapsed = Fraction.of(now).minus(nextBatch);
        if (isFull() || elapsed.compareTo(Fraction.ZERO) < 0) {
            return capacity.minus(tokens);
        }
        Fraction batches = Fraction.of(elapsed.dividedBy(period).floor() + 1);
        tokens = tokens.plus(batches.times(batch)).atMost(capacity);
        nextBatch = nextBatch.plus(batches.times(period));
        return capacity.minus(tokens);
    }

    @Override
    public void take(long now, long permits) {
        used(now);
        if (isFull()) {
            nextBatch = Fraction.of(now).plus(period);
        }
        tokens = tokens.minus(Fraction.of(permits));
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        Fraction missing = used(now).minus(mostUsed);
        if (missing.compareTo(Fraction.ZERO) <= 0) {
            return Fraction.ZERO;
        }
        Fraction batches = Fraction.of(missing.dividedBy(batch).ceiling());
        return nextBatch.plus(batches.minus(Fraction.of(1)).times(period)).minus(Fraction.of(now));
    }

    private boolean isFull() {
        return tokens.equals(capacity);
    }
}

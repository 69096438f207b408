package io.ratelimit.testing.reference;

/**
 * Holds the permits in use. The call that takes from a full bucket starts a period, and at the end of this and of each period
 * after it a batch comes back, until the bucket is full. If the first permits in use are refunded, the period starts anew.
 */
final class ReferenceIntervals implements ReferenceBucket {

    private final PermitQueue queue = new PermitQueue();

    private final Fraction batch;

    private final Fraction period;

    private Fraction nextBatch = Fraction.ZERO;

    ReferenceIntervals(Fraction batch, Fraction period) {
        this.batch = batch;
        this.period = period;
    }

    @Override
    public Fraction used(long now) {
        Fraction elapsed = Fraction.of(now).minus(nextBatch);
        if (queue.size() > 0 && elapsed.compareTo(Fraction.ZERO) >= 0) {
            Fraction batches = Fraction.of(elapsed.dividedBy(period).floor() + 1);
            queue.removeFirst(
                    batches.times(batch).atMost(Fraction.of(queue.size())).floor());
            nextBatch = nextBatch.plus(batches.times(period));
        }
        return Fraction.of(queue.size());
    }

    @Override
    public void take(long now, long permits, Object call) {
        if (used(now).equals(Fraction.ZERO)) {
            nextBatch = Fraction.of(now).plus(period);
        }
        queue.add(call, permits);
    }

    @Override
    public void refund(long now, Object call, long permits) {
        used(now);
        if (queue.remove(call, permits)) {
            nextBatch = Fraction.of(now).plus(period);
        }
    }

    /** With more than is left, all of the capacity is in use from now on. */
    @Override
    public void witness(long now, long permits, long capacity) {
        long room = capacity - used(now).ceiling();
        ReferenceBucket.super.witness(now, permits, capacity);
        nextBatch = room >= 0 && permits > room ? Fraction.of(now).plus(period) : nextBatch;
    }

    @Override
    public void grant(long now, long permits) {
        used(now);
        queue.removeLast(permits);
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
}

package io.ratelimit.testing.reference;

/** Holds the permits in use, also those reserved ahead. One comes back after the other, each a permit's time after the last. */
final class ReferenceTokenBucket implements ReferenceBucket {

    private final PermitQueue queue = new PermitQueue();

    private final Fraction microsPerPermit;

    /** When the first permit in the queue began to come back. */
    private Fraction begin = Fraction.ZERO;

    ReferenceTokenBucket(Fraction microsPerPermit) {
        this.microsPerPermit = microsPerPermit;
    }

    @Override
    public Fraction used(long now) {
        Fraction elapsed = Fraction.of(now).minus(begin).dividedBy(microsPerPermit);
        Fraction back = Fraction.of(elapsed.atMost(Fraction.of(queue.size())).floor());
        queue.removeFirst(back.floor());
        begin = begin.plus(back.times(microsPerPermit));
        return queue.size() == 0 ? Fraction.ZERO : Fraction.of(queue.size()).minus(elapsed.minus(back));
    }

    @Override
    public void take(long now, long permits, Object call) {
        used(now);
        begin = queue.size() == 0 ? Fraction.of(now) : begin;
        queue.add(call, permits);
    }

    @Override
    public void refund(long now, Object call, long permits) {
        used(now);
        begin = queue.remove(call, permits) ? Fraction.of(now) : begin;
    }

    /** With more than is left, all of the capacity is in use from now on. */
    @Override
    public void witness(long now, long permits, long capacity) {
        long room = capacity - used(now).ceiling();
        ReferenceBucket.super.witness(now, permits, capacity);
        begin = room >= 0 && permits > room ? Fraction.of(now) : begin;
    }

    @Override
    public void grant(long now, long permits) {
        used(now);
        queue.removeLast(permits);
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        return used(now).minus(mostUsed).atLeast(Fraction.ZERO).times(microsPerPermit);
    }
}

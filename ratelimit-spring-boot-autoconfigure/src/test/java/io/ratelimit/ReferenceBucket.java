package io.ratelimit;

/** One bucket by the book: slow, obvious, in rational arithmetic. Time never goes back. */
interface ReferenceBucket {

    static ReferenceBucket of(RateLimit limit) {
        Fraction capacity = Fraction.of(limit.capacity());
        Fraction perMicro = Fraction.of(limit.rate().permits())
                .dividedBy(Fraction.of(limit.rate().period().toNanos() / 1_000));
        return limit.algorithm() == Algorithm.FIXED_WINDOW
                ? new ReferenceFixedWindow(capacity, capacity.dividedBy(perMicro))
                : new ReferenceTokenBucket(capacity, perMicro);
    }

    /** The permits that are there, fractions of one included. */
    Fraction available(long now);

    /** Takes permits that are there. */
    void take(long now, long permits);

    /** The time from now on until so many permits, no more than the capacity, are there; zero if they are. */
    Fraction timeUntil(long now, Fraction permits);
}

package io.ratelimit.testing.reference;

import io.ratelimit.RateLimit;
import io.ratelimit.Refill;

/** One bucket by the book: slow, obvious, in rational arithmetic. Time never goes back. */
interface ReferenceBucket {

    static ReferenceBucket of(RateLimit limit) {
        Fraction capacity = Fraction.of(limit.capacity());
        Fraction batch = Fraction.of(limit.rate().permits());
        Fraction period = Fraction.of(limit.rate().period().toNanos() / 1_000);
        Fraction perMicro = batch.dividedBy(period);
        Fraction window = capacity.dividedBy(perMicro);
        return switch (limit.algorithm()) {
            case TOKEN_BUCKET ->
                limit.refill() == Refill.INTERVAL
                        ? new ReferenceIntervals(batch.atMost(capacity), period)
                        : new ReferenceTokenBucket(Fraction.of(1).dividedBy(perMicro));
            case LEAKY_BUCKET -> new ReferenceTokenBucket(Fraction.of(1).dividedBy(perMicro));
            case FIXED_WINDOW ->
                limit.rate().calendarUnit() == null
                        ? new ReferenceFixedWindow(window, limit.capacity())
                        : new ReferenceCalendarWindow(limit.rate().calendarUnit(), limit.zone());
            case SLIDING_WINDOW -> new ReferenceSlidingWindow(window, limit.capacity());
            case SLIDING_WINDOW_LOG -> new ReferenceLog(window);
            case CONCURRENCY ->
                throw new IllegalArgumentException("Permits that calls hold are counted by HoldingTraceContract");
        };
    }

    /** The permits that are in use, fractions of one included. */
    Fraction used(long now);

    /** Takes permits, be they there or not. */
    void take(long now, long permits, Object call);

    /** Returns permits of a call, those that have not come back. */
    void refund(long now, Object call, long permits);

    /** Returns permits to the bucket, those that were taken last. */
    void grant(long now, long permits);

    /** The time from now on until no more than so many permits are in use; zero if that is so already. */
    Fraction timeUntil(long now, Fraction mostUsed);

    /**
     * Takes permits that another rule has given. In sum they are cut to the capacity; a permit that is partly in use
     * counts as one then.
     */
    default void witness(long now, long permits, long capacity) {
        take(now, Math.min(permits, Math.max(0, capacity - used(now).ceiling())), new Object());
    }
}

package io.ratelimit;

/** Holds tokens. Every microsecond adds {@code perMicro} of one, until the bucket is full. */
final class ReferenceTokenBucket implements ReferenceBucket {

    private final Fraction capacity;

    private final Fraction perMicro;

    private Fraction tokens;

    private long last;

    ReferenceTokenBucket(Fraction capacity, Fraction perMicro) {
        this.capacity = capacity;
        this.perMicro = perMicro;
        this.tokens = capacity;
    }

    @Override
    public Fraction available(long now) {
        tokens = tokens.plus(Fraction.of(now - last).times(perMicro)).atMost(capacity);
        last = now;
        return tokens;
    }

    @Override
    public void take(long now, long permits) {
        tokens = available(now).minus(Fraction.of(permits));
    }

    @Override
    public Fraction timeUntil(long now, Fraction permits) {
        Fraction missing = permits.minus(available(now));
        return missing.compareTo(Fraction.ZERO) <= 0 ? Fraction.ZERO : missing.dividedBy(perMicro);
    }
}

package io.ratelimit.testing.reference;

/** Holds tokens. Every microsecond adds {@code perMicro} of one, until the bucket is full. Those reserved ahead are owed. */
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
    public Fraction used(long now) {
        tokens = tokens.plus(Fraction.of(now - last).times(perMicro)).atMost(capacity);
        last = now;
        return capacity.minus(tokens);
    }

    @Override
    public void take(long now, long permits) {
        tokens = capacity.minus(used(now)).minus(Fraction.of(permits));
    }

    @Override
    public Fraction timeUntil(long now, Fraction mostUsed) {
        return used(now).minus(mostUsed).atLeast(Fraction.ZERO).dividedBy(perMicro);
    }
}

package io.ratelimit.testing.reference;

import java.math.BigInteger;

/** A rational number, in lowest terms. */
public record Fraction(BigInteger numerator, BigInteger denominator) implements Comparable<Fraction> {

    static final Fraction ZERO = of(0);

    public Fraction {
        // Most are whole, and nothing else takes as long as this.
        if (!denominator.equals(BigInteger.ONE)) {
            BigInteger divisor = numerator.gcd(denominator).multiply(BigInteger.valueOf(denominator.signum()));
            numerator = numerator.divide(divisor);
            denominator = denominator.divide(divisor);
        }
    }

    public static Fraction of(long number) {
        return new Fraction(BigInteger.valueOf(number), BigInteger.ONE);
    }

    Fraction plus(Fraction other) {
        return new Fraction(
                numerator.multiply(other.denominator).add(other.numerator.multiply(denominator)),
                denominator.multiply(other.denominator));
    }

    Fraction minus(Fraction other) {
        return plus(other.times(of(-1)));
    }

    public Fraction times(Fraction other) {
        return new Fraction(numerator.multiply(other.numerator), denominator.multiply(other.denominator));
    }

    public Fraction dividedBy(Fraction other) {
        return new Fraction(numerator.multiply(other.denominator), denominator.multiply(other.numerator));
    }

    Fraction atMost(Fraction other) {
        return compareTo(other) <= 0 ? this : other;
    }

    Fraction atLeast(Fraction other) {
        return compareTo(other) >= 0 ? this : other;
    }

    /** Of a number that is not negative. */
    public long floor() {
        return numerator.divide(denominator).longValueExact();
    }

    /** Of a number that is not negative. */
    public long ceiling() {
        return numerator
                .add(denominator)
                .subtract(BigInteger.ONE)
                .divide(denominator)
                .longValueExact();
    }

    @Override
    public int compareTo(Fraction other) {
        return numerator.multiply(other.denominator).compareTo(other.numerator.multiply(denominator));
    }
}

package io.ratelimit.internal.limiter;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.Refill;
import io.ratelimit.Scope;
import io.ratelimit.internal.limit.LimitNumbers;
import java.util.Optional;

/**
 * Divides limits among instances that each apply them on their own while the store fails: together, the instances never
 * allow more than the limit. Rates are divided exactly; the capacity is rounded down, to at least 1.
 *
 * @param instances the number of instances that is expected
 * @param counting whether limits are divided by the number of instances that was counted, if it is larger
 */
public record LocalShare(int instances, boolean counting) {

    /** Each instance applies every limit in full. */
    public static final LocalShare WHOLE = new LocalShare(1);

    /** As many instances as are counted. */
    public static final LocalShare AUTO = new LocalShare(1, true);

    /** Divides limits by this number of instances, or by a larger one that was counted; 1: does not divide. */
    public LocalShare(int instances) {
        this(instances, instances > 1);
    }

    /**
     * Reads the property.
     *
     * @throws RateLimitConfigurationException if it is neither {@code auto} nor a number of at least 1
     */
    public static LocalShare parse(String expected) {
        if (expected.equalsIgnoreCase("auto")) {
            return AUTO;
        }
        try {
            int instances = Integer.parseInt(expected);
            if (instances >= 1) {
                return new LocalShare(instances);
            }
        } catch (NumberFormatException ex) {
            // Is reported below.
        }
        throw new RateLimitConfigurationException(
                "ratelimit.expected-instances must be auto or a number of at least 1 (was " + expected + ").",
                "Set it to auto, to the least number of instances, or to 1 to apply every limit in full on each instance.");
    }

    /**
     * Returns the limit of one instance, or the same limit if it is not divided. If the limit cannot be divided exactly by the
     * number that was counted, it is divided by the one that is expected.
     *
     * @param counted the number of instances that was counted; 0: none was
     * @throws RateLimitConfigurationException if the share of the expected instances cannot be represented exactly
     */
    public RateLimit of(RateLimit limit, int counted) {
        RateLimit expected = of(limit);
        int divisor = divisor(counted);
        if (divisor == instances) {
            return expected;
        }
        try {
            return new LocalShare(divisor, false).of(limit);
        } catch (RateLimitConfigurationException ex) {
            return expected;
        }
    }

    /** Returns the number by which limits are divided: the larger one of those that are expected and counted. */
    public int divisor(int counted) {
        return counting ? Math.max(instances, counted) : instances;
    }

    private RateLimit of(RateLimit limit) {
        if (instances == 1
                || !limit.enabled()
                || limit.scope() == Scope.INSTANCE
                || limit.onStoreFailure() != OnStoreFailure.LOCAL) {
            return limit;
        }
        try {
            return divided(limit);
        } catch (ArithmeticException | RateLimitConfigurationException ex) {
            throw new RateLimitConfigurationException(
                    "ratelimit.expected-instances must divide limit '" + limit.name() + "' (" + limit
                            + ") exactly in integers below 2^53 (was " + instances + ").",
                    "Expect fewer instances, use rounder numbers, or set ratelimit.limits." + limit.name()
                            + ".on-store-failure to allow, reject or throw.",
                    ex);
        }
    }

    /** Returns a warning to log at startup if the instances together may exceed the capacity of the limit. */
    public Optional<String> warning(RateLimit limit) {
        return of(limit).equals(limit) || limit.capacity() >= instances
                ? Optional.empty()
                : Optional.of("Rate limit '" + limit.name() + "': its capacity " + limit.capacity()
                        + " is less than ratelimit.expected-instances " + instances
                        + ", so while the store fails, the instances together let " + instances + " through at once");
    }

    private RateLimit divided(RateLimit limit) {
        LimitNumbers numbers = limit.numbers();
        return limit.definition()
                .with(
                        Math.max(1, limit.capacity() / instances),
                        numbers.traits().dividedRate(numbers, instances),
                        numbers.traits().dividesBatches(numbers, instances) ? Refill.INTERVAL : Refill.CONTINUOUS);
    }
}

package io.ratelimit;

import java.util.Optional;

/**
 * What one of several instances lets through, while the store fails and each limits by itself: over any time, all of them
 * together no more than the limit does. Everything is exact, but for the capacity, which is rounded down, and 1 at least.
 *
 * @param instances how many there are
 */
public record LocalShare(int instances) {

    /** There is but one instance, or each is to let through as much as the limit does. */
    public static final LocalShare WHOLE = new LocalShare(1);

    public LocalShare {
        if (instances < 1) {
            throw new RateLimitConfigurationException(
                    "ratelimit.expected-instances must be at least 1 (was " + instances + ").",
                    "Set it to the number of instances, or to 1 to apply every limit in full on each instance.");
        }
    }

    /**
     * The limit of one instance; the limit itself, if it is not divided.
     *
     * @throws RateLimitConfigurationException if the arithmetic cannot carry it
     */
    public RateLimit of(RateLimit limit) {
        if (instances == 1 || !limit.enabled() || limit.onStoreFailure() != OnStoreFailure.LOCAL) {
            return limit;
        }
        try {
            return divided(limit).build();
        } catch (ArithmeticException | RateLimitConfigurationException ex) {
            throw new RateLimitConfigurationException(
                    "ratelimit.expected-instances must divide limit '" + limit.name() + "' (" + limit
                            + ") exactly in integers below 2^53 (was " + instances + ").",
                    "Expect fewer instances, use rounder numbers, or set ratelimit.limits." + limit.name()
                            + ".on-store-failure to allow, reject or throw.",
                    ex);
        }
    }

    /** What a start-up with this limit is to warn of. */
    public Optional<String> warning(RateLimit limit) {
        return limit.local().equals(limit) || limit.capacity() >= instances
                ? Optional.empty()
                : Optional.of("Rate limit '" + limit.name() + "': its capacity " + limit.capacity()
                        + " is less than ratelimit.expected-instances " + instances
                        + ", so while the store fails, the instances together let " + instances + " through at once");
    }

    private RateLimitBuilder divided(RateLimit limit) {
        RateLimitBuilder divided = RateLimit.named(limit.name())
                .algorithm(limit.algorithm())
                .capacity(Math.max(1, limit.capacity() / instances))
                .maxWait(limit.maxWait());
        divided.dryRun = limit.dryRun();
        AlgorithmTraits.of(limit).divide(limit, instances, divided);
        return divided;
    }
}

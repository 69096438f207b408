package io.ratelimit.internal.limiter;

import io.ratelimit.Algorithm;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.Refill;
import io.ratelimit.Scope;
import io.ratelimit.internal.limit.LimitNumbers;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Divides limits among instances that each apply them on their own while the store fails: together, the instances never
 * allow more than the limit. Rates are divided exactly; the capacity is rounded down, to at least 1.
 *
 * @param instances the number of instances
 */
public record LocalShare(int instances) {

    /** Each instance applies every limit in full. */
    public static final LocalShare WHOLE = new LocalShare(1);

    public LocalShare {
        if (instances < 1) {
            throw new RateLimitConfigurationException(
                    "ratelimit.expected-instances must be at least 1 (was " + instances + ").",
                    "Set it to the number of instances, or to 1 to apply every limit in full on each instance.");
        }
    }

    /**
     * Returns the limit of one instance, or the same limit if it is not divided.
     *
     * @throws RateLimitConfigurationException if the share cannot be represented exactly
     */
    public RateLimit of(RateLimit limit) {
        if (instances == 1
                || !limit.enabled()
                || limit.scope() == Scope.INSTANCE
                || limit.onStoreFailure() != OnStoreFailure.LOCAL) {
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

    /** Returns a warning to log at startup if the instances together may exceed the capacity of the limit. */
    public Optional<String> warning(RateLimit limit) {
        return limit.local().equals(limit) || limit.capacity() >= instances
                ? Optional.empty()
                : Optional.of("Rate limit '" + limit.name() + "': its capacity " + limit.capacity()
                        + " is less than ratelimit.expected-instances " + instances
                        + ", so while the store fails, the instances together let " + instances + " through at once");
    }

    private Refill refill(LimitNumbers numbers) {
        return numbers.traits().dividesBatches(numbers, instances) ? Refill.INTERVAL : Refill.CONTINUOUS;
    }

    private RateLimitBuilder divided(RateLimit limit) {
        RateLimitBuilder divided = RateLimit.named(limit.name());
        Algorithm builtIn = limit.algorithm();
        if (builtIn == null) {
            divided.algorithm(Objects.requireNonNull(limit.ownAlgorithm()));
        } else {
            divided.algorithm(builtIn);
        }
        divided.capacity(Math.max(1, limit.capacity() / instances))
                .maxWait(limit.maxWait())
                .blockFor(limit.blockFor().toArray(Duration[]::new))
                .dryRun(limit.dryRun())
                .zone(limit.zone());
        LimitNumbers numbers = limit.numbers();
        String rate = numbers.traits().dividedRate(numbers, instances);
        if (rate != null) {
            divided.rate(rate).refill(refill(numbers));
        }
        return divided;
    }
}

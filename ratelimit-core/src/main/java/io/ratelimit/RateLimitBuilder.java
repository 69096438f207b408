package io.ratelimit;

import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builds a {@link RateLimit} and validates it as a whole. Only {@link #rate} is required. */
public final class RateLimitBuilder {

    private final String name;

    private AttributeValues values;

    RateLimitBuilder(String name, AttributeValues values) {
        this.name = name;
        this.values = values;
    }

    private <T> RateLimitBuilder set(Attribute<T> attribute, @Nullable T value) {
        values = values.with(attribute, value);
        return this;
    }

    /** Sets the algorithm; default: {@link Algorithm#TOKEN_BUCKET}. */
    public RateLimitBuilder algorithm(Algorithm algorithm) {
        return set(LimitAttributes.ALGORITHM, LimitAlgorithm.of(algorithm));
    }

    /** Sets an algorithm of the application. With Redis it must be a bean, too, because Redis gets its Lua part at start-up. */
    public RateLimitBuilder algorithm(RateLimitAlgorithm algorithm) {
        return set(LimitAttributes.ALGORITHM, LimitAlgorithm.of(algorithm));
    }

    /** Sets how permits are refilled; default: {@link Refill#CONTINUOUS}. */
    public RateLimitBuilder refill(Refill refill) {
        return set(LimitAttributes.REFILL, refill);
    }

    /**
     * Sets the maximum number of permits available at once, up to {@value RateLimit#MAX_CAPACITY}; 0, the default: the number
     * in the rate.
     */
    public RateLimitBuilder capacity(long capacity) {
        return set(LimitAttributes.CAPACITY, capacity == 0 ? null : Long.valueOf(capacity));
    }

    /** Sets the rate, in the syntax of {@link Rate#parse}. */
    public RateLimitBuilder rate(String rate) {
        return set(LimitAttributes.RATE, rate);
    }

    /** Sets the rate: so many permits become available per period, a whole number of microseconds. */
    public RateLimitBuilder rate(long permits, Duration period) {
        return rate(permits + "/" + period);
    }

    /**
     * Sets the maximum time to wait for permits, which are reserved if the limit has a rate; zero, the default: calls do not
     * wait.
     */
    public RateLimitBuilder maxWait(Duration maxWait) {
        return set(LimitAttributes.MAX_WAIT, maxWait);
    }

    /**
     * Sets for how long a rejection blocks the key. If the limit is violated again within the duration of a block after its
     * end, the next duration applies, and the last one repeats; otherwise the first applies again. None, the default, or a
     * single zero: a rejection blocks nothing.
     */
    public RateLimitBuilder blockFor(Duration... durations) {
        return set(LimitAttributes.BLOCK_FOR, List.of(durations));
    }

    /**
     * Sets the maximum number of permits that an instance takes from a remote store in advance, together with those of a call,
     * to grant later calls in memory; 0, the default: none. Not together with {@code blockFor}.
     */
    public RateLimitBuilder lease(long lease) {
        return set(LimitAttributes.LEASE, lease);
    }

    /** Sets whether the limit applies; default: true. */
    public RateLimitBuilder enabled(boolean enabled) {
        return set(LimitAttributes.ENABLED, enabled);
    }

    /** Sets whether rejections are only counted; default: false. */
    public RateLimitBuilder dryRun(boolean dryRun) {
        return set(LimitAttributes.DRY_RUN, dryRun);
    }

    /** Sets what happens to calls while the store fails; default: {@link OnStoreFailure#LOCAL}. */
    public RateLimitBuilder onStoreFailure(OnStoreFailure onStoreFailure) {
        return set(LimitAttributes.ON_STORE_FAILURE, onStoreFailure);
    }

    /** Sets which instances share the limit; default: {@link Scope#SHARED}. */
    public RateLimitBuilder scope(Scope scope) {
        return set(LimitAttributes.SCOPE, scope);
    }

    /**
     * Sets the time zone in which the calendar unit of a rate such as {@code "10000/month"} begins and ends; default: UTC.
     * Without effect on other rates.
     */
    public RateLimitBuilder zone(ZoneId zone) {
        return set(LimitAttributes.ZONE, zone);
    }

    /**
     * Sets after which time the permits that an instance holds come back if the instance has died, with
     * {@link Algorithm#CONCURRENCY}; default: 30 seconds.
     */
    public RateLimitBuilder hold(Duration hold) {
        return set(LimitAttributes.HOLD, hold);
    }

    /**
     * Sets the Redis server that the limit is counted in, by its name below {@code ratelimit.redis}; default: the Redis of {@code
     * ratelimit.redis} itself, which is also named {@code default}. Without effect on other stores.
     */
    public RateLimitBuilder redis(String server) {
        return set(LimitAttributes.REDIS, server);
    }

    /** Returns what the limit is built from. */
    @Internal
    public LimitDefinition definition() {
        return new LimitDefinition(name, values);
    }

    /**
     * Validates the attributes and builds the limit.
     *
     * @throws RateLimitConfigurationException if a number is missing, out of range or contradicts another
     */
    public RateLimit build() {
        return definition().build();
    }
}

package io.ratelimit;

import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A plan of a limit, such as {@code free} or {@code pro}: numbers for some of its callers. A {@code planExpression} or a
 * {@link io.ratelimit.spi.RateLimitPlanResolver} returns it. What is not set is as in {@code
 * ratelimit.limits.<name>.plans.<plan>}, if the configuration has a plan of this name, or else as in the limit.
 *
 * <pre>{@code RateLimitPlan.named("pro").capacity(1_000).rate("1000/m")}</pre>
 *
 * <p>All plans of a limit count in the same bucket, so that a caller that changes plans keeps what it has used.
 */
public final class RateLimitPlan {

    private final String name;

    private final AttributeValues values;

    RateLimitPlan(String name, AttributeValues values) {
        this.name = Objects.requireNonNull(name, "name");
        this.values = values;
    }

    /**
     * Creates a plan that sets nothing. Numbers are checked when a call has the plan: if they are invalid for its limit, the configured
     * numbers apply, and one line at {@code WARN} says so.
     *
     * @param name letters, digits, {@code -} and {@code _}; case and dashes are ignored
     */
    public static RateLimitPlan named(String name) {
        return new RateLimitPlan(name, AttributeValues.NONE);
    }

    public String name() {
        return name;
    }

    AttributeValues values() {
        return values;
    }

    /** Returns this plan with a maximum number of permits available at once. */
    public RateLimitPlan capacity(long permits) {
        return with(LimitAttributes.CAPACITY, permits);
    }

    /**
     * Returns this plan with a rate, in the syntax of {@link Rate#parse}. If neither the plan nor the limit has a capacity, it is
     * the number in the rate.
     */
    public RateLimitPlan rate(String average) {
        return with(LimitAttributes.RATE, average);
    }

    /** Returns this plan with a rate: so many permits become available per period, a whole number of microseconds. */
    public RateLimitPlan rate(long permits, Duration period) {
        return rate(permits + "/" + period);
    }

    /** Returns this plan with a maximum time to wait for reserved permits; zero: permits are not reserved. */
    public RateLimitPlan maxWait(Duration time) {
        return with(LimitAttributes.MAX_WAIT, time);
    }

    /** Returns this plan with times for which a rejection blocks the key; zero alone: never. */
    public RateLimitPlan blockFor(Duration... times) {
        return with(LimitAttributes.BLOCK_FOR, List.of(times));
    }

    /** Returns this plan, with or without a limit. */
    public RateLimitPlan enabled(boolean limited) {
        return with(LimitAttributes.ENABLED, limited);
    }

    /** Returns this plan, in which rejections are only counted or not. */
    public RateLimitPlan dryRun(boolean onlyCounted) {
        return with(LimitAttributes.DRY_RUN, onlyCounted);
    }

    private <T> RateLimitPlan with(Attribute<T> attribute, T value) {
        return new RateLimitPlan(name, values.with(attribute, value));
    }

    /** Returns whether the plan is a name alone. */
    public boolean isName() {
        return values.isEmpty();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RateLimitPlan plan && name.equals(plan.name) && values.equals(plan.values);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, values);
    }
}

package io.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A plan of a limit, such as {@code free} or {@code pro}: numbers for some of its callers. A {@code planExpression} or a
 * {@link io.ratelimit.spi.RateLimitPlanResolver} returns it. What is {@code null} is as in {@code ratelimit.limits.<name>.plans.<plan>}, if the
 * configuration has a plan of this name, or else as in the limit.
 *
 * <pre>{@code RateLimitPlan.named("pro").capacity(1_000).rate("1000/m")}</pre>
 *
 * <p>All plans of a limit count in the same bucket, so that a caller that changes plans keeps what it has used.
 *
 * @param name letters, digits, {@code -} and {@code _}; case and dashes are ignored
 * @param rate in the syntax of {@link Rate#parse}. If neither the plan nor the limit has a capacity, it is the number in the
 *     rate.
 * @param blockFor as in {@link RateLimitBuilder#blockFor}; zero alone: never
 */
public record RateLimitPlan(
        String name,
        @Nullable Long capacity,
        @Nullable String rate,
        @Nullable Duration maxWait,
        @Nullable List<Duration> blockFor,
        @Nullable Boolean enabled,
        @Nullable Boolean dryRun) {

    public RateLimitPlan {
        Objects.requireNonNull(name, "name");
        blockFor = blockFor == null ? null : List.copyOf(blockFor);
    }

    /** Creates a plan that sets nothing. */
    public static RateLimitPlan named(String name) {
        return new RateLimitPlan(name, null, null, null, null, null, null);
    }

    /** Returns this plan with a maximum number of permits available at once. */
    public RateLimitPlan capacity(long permits) {
        return new RateLimitPlan(name, permits, rate, maxWait, blockFor, enabled, dryRun);
    }

    /** Returns this plan with a rate, in the syntax of {@link Rate#parse}. */
    public RateLimitPlan rate(String average) {
        return new RateLimitPlan(name, capacity, average, maxWait, blockFor, enabled, dryRun);
    }

    /** Returns this plan with a rate: so many permits become available per period, a whole number of microseconds. */
    public RateLimitPlan rate(long permits, Duration period) {
        return rate(permits + "/" + period);
    }

    /** Returns this plan with a maximum time to wait for reserved permits; zero: permits are not reserved. */
    public RateLimitPlan maxWait(Duration time) {
        return new RateLimitPlan(name, capacity, rate, time, blockFor, enabled, dryRun);
    }

    /** Returns this plan with times for which a rejection blocks the key; zero alone: never. */
    public RateLimitPlan blockFor(Duration... times) {
        return new RateLimitPlan(name, capacity, rate, maxWait, List.of(times), enabled, dryRun);
    }

    /** Returns this plan, with or without a limit. */
    public RateLimitPlan enabled(boolean limited) {
        return new RateLimitPlan(name, capacity, rate, maxWait, blockFor, limited, dryRun);
    }

    /** Returns this plan, in which rejections are only counted or not. */
    public RateLimitPlan dryRun(boolean onlyCounted) {
        return new RateLimitPlan(name, capacity, rate, maxWait, blockFor, enabled, onlyCounted);
    }

    /** Returns whether the plan is a name alone. */
    public boolean isName() {
        return capacity == null
                && rate == null
                && maxWait == null
                && blockFor == null
                && enabled == null
                && dryRun == null;
    }
}

package io.ratelimit.metrics;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limiter.EffectiveLimit;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * Describes a gauge of limits, with the tag {@code limit}. A bean of this type is all that such a gauge needs.
 *
 * @param selection matches the limits that have it
 * @param value reads the value for a limit; called by the registry whenever it publishes
 */
public record LimitGauge(
        String name,
        String baseUnit,
        String description,
        Predicate<RateLimit> selection,
        ToDoubleFunction<EffectiveLimit> value) {

    public static LimitGauge capacity() {
        return new LimitGauge(
                "ratelimit.capacity",
                "permits",
                "Capacity of a limit that applies now",
                limit -> true,
                limit -> limit.get().capacity());
    }

    public static LimitGauge leased(ToDoubleFunction<EffectiveLimit> value) {
        return new LimitGauge(
                "ratelimit.leased",
                "permits",
                "Permits that this instance has leased and not handed out",
                limit -> true,
                value);
    }

    /** Describes the gauge that only concurrency limits have. */
    public static LimitGauge concurrency(ToDoubleFunction<EffectiveLimit> value) {
        return new LimitGauge(
                "ratelimit.concurrency",
                "permits",
                "Permits that calls of this instance hold",
                limit -> !limit.hasRate(),
                value);
    }
}

package io.ratelimit.metrics;

import io.ratelimit.limiter.EffectiveLimit;
import java.util.function.ToDoubleFunction;

/**
 * Describes a gauge that every limit has, with the tag {@code limit}. A bean of this type is all that such a gauge needs.
 *
 * @param value reads the value for a limit; called by the registry whenever it publishes
 */
public record LimitGauge(String name, String baseUnit, String description, ToDoubleFunction<EffectiveLimit> value) {

    public static LimitGauge capacity() {
        return new LimitGauge(
                "ratelimit.capacity",
                "permits",
                "Capacity of a limit that applies now",
                limit -> limit.get().capacity());
    }

    public static LimitGauge leased(ToDoubleFunction<EffectiveLimit> value) {
        return new LimitGauge(
                "ratelimit.leased", "permits", "Permits that this instance has leased and not handed out", value);
    }
}

package io.ratelimit.benchmarks.redis;

import io.ratelimit.Algorithm;
import io.ratelimit.benchmarks.race.Quota;
import java.util.HashMap;
import java.util.Map;

/**
 * A limit of an {@link OurApplication}, as it would be configured.
 *
 * @param attributes further properties of the limit
 */
public record OurLimit(String name, Quota quota, Map<String, ?> attributes) {

    /** A token bucket. */
    public static OurLimit named(String name, Quota quota) {
        return new OurLimit(name, quota, Map.of());
    }

    public OurLimit algorithm(Algorithm algorithm) {
        return with("algorithm", algorithm);
    }

    public OurLimit lease(int permits) {
        return with("lease", permits);
    }

    private OurLimit with(String attribute, Object value) {
        Map<String, Object> all = new HashMap<>(attributes);
        all.put(attribute, value);
        return new OurLimit(name, quota, all);
    }

    Map<String, Object> properties() {
        String prefix = "ratelimit.limits." + name + ".";
        Map<String, Object> properties = new HashMap<>();
        properties.put(prefix + "capacity", quota.capacity());
        properties.put(prefix + "rate", quota.rate());
        attributes.forEach((attribute, value) -> properties.put(prefix + attribute, value));
        return properties;
    }
}

package io.ratelimit.simulation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a limit that can change; {@code null}: not set.
 *
 * @param rate permits and microseconds: {@code 5/1000000}
 */
record Attributes(
        @Nullable Long capacity,
        @Nullable String rate,
        @Nullable Long maxWait,
        @Nullable List<Long> blockFor,
        @Nullable Boolean enabled,
        @Nullable Boolean dryRun) {

    static final Attributes NONE = new Attributes(null, null, null, null, null, null);

    /** Returns these attributes over others, attribute by attribute. */
    Attributes over(Attributes below) {
        return new Attributes(
                capacity != null ? capacity : below.capacity,
                rate != null ? rate : below.rate,
                maxWait != null ? maxWait : below.maxWait,
                blockFor != null ? blockFor : below.blockFor,
                enabled != null ? enabled : below.enabled,
                dryRun != null ? dryRun : below.dryRun);
    }

    private static final double LONGEST = 142 * 365.25 * 8.64e10;

    /** Returns whether the bucket can be full again within the time that is supported. */
    boolean isValid() {
        if (rate == null || capacity == null) {
            return true;
        }
        String[] parts = rate.split("/", -1);
        return capacity / Double.parseDouble(parts[0]) * Double.parseDouble(parts[1]) <= LONGEST;
    }

    /**
     * Says what applies: a pure function of what is configured, the overrides and the time.
     *
     * @param configured of the limit ({@code ""}) and its plans
     * @param overrides of the limit and its plans, those that apply at the time
     */
    static Map<String, Attributes> effective(Map<String, Attributes> configured, Map<String, Attributes> overrides) {
        return applied(configured, areValid(configured, overrides) ? overrides : new HashMap<>());
    }

    static boolean areValid(Map<String, Attributes> configured, Map<String, Attributes> overrides) {
        return applied(configured, overrides).values().stream().allMatch(Attributes::isValid);
    }

    private static Map<String, Attributes> applied(
            Map<String, Attributes> configured, Map<String, Attributes> overrides) {
        Attributes limit = overrides.getOrDefault("", Attributes.NONE).over(configured.get(""));
        Map<String, Attributes> all = new TreeMap<>();
        configured.forEach((plan, attributes) -> all.put(
                plan,
                plan.isEmpty()
                        ? limit
                        : overrides
                                .getOrDefault(plan, Attributes.NONE)
                                .over(attributes)
                                .over(limit)));
        return all;
    }
}

package io.ratelimit.internal.change;

import io.ratelimit.internal.limiter.LimitState;
import io.ratelimit.internal.limiter.StoredOverride;
import java.util.HashMap;
import java.util.Map;

/**
 * All overrides at one time.
 *
 * @param nowMicros the time by the store's clock
 * @param result what has become of the change that this is the reply to
 * @param presentVersion the version of the changed limit's override before the change; 0: none
 * @param ended how many overrides this reply has removed because they have ended
 * @param overrides by the id of the limit, or {@code limit/plan}
 */
public record OverrideSnapshot(
        long nowMicros, Result result, long presentVersion, int ended, Map<String, StoredOverride> overrides) {

    public OverrideSnapshot {
        overrides = Map.copyOf(overrides);
    }

    /**
     * Returns the overrides that are in force at a time: by the id of the limit, and then by that of the plan, or
     * {@link LimitState#OF_LIMIT}.
     */
    Map<String, Map<String, StoredOverride>> inForce(long atMicros) {
        Map<String, Map<String, StoredOverride>> limits = new HashMap<>();
        overrides.forEach((id, override) -> {
            if (!override.hasEnded(atMicros)) {
                String[] words = id.split("/", 2);
                limits.computeIfAbsent(words[0], limit -> new HashMap<>())
                        .put(words.length == 1 ? LimitState.OF_LIMIT : words[1], override);
            }
        });
        return limits;
    }

    /** The result of a change. */
    public enum Result {

        /** There was no change to make: the overrides were read, or there was nothing to remove. */
        UNCHANGED,

        CHANGED,

        /** The present override has another version than expected. */
        CONFLICT
    }
}

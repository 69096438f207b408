package io.ratelimit.change;

import java.util.Map;

/**
 * All overrides at one time.
 *
 * @param nowMicros the time by the store's clock
 * @param result what has become of the change that this is the reply to
 * @param presentVersion the version of the changed limit's override before the change; 0: none
 * @param ended how many overrides this reply has removed because they have ended
 * @param overrides by the id of the limit
 */
record OverrideSnapshot(
        long nowMicros, Result result, long presentVersion, int ended, Map<String, StoredOverride> overrides) {

    OverrideSnapshot {
        overrides = Map.copyOf(overrides);
    }

    /** The result of a change. */
    enum Result {

        /** There was no change to make: the overrides were read, or there was nothing to remove. */
        UNCHANGED,

        CHANGED,

        /** The present override has another version than expected. */
        CONFLICT
    }
}

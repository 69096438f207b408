package io.ratelimit.internal.change;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitOverride;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Stores the overrides of all limits. Removes those that have ended. Never blocks; a failure completes the stage. */
public interface OverrideRepository {

    CompletionStage<OverrideSnapshot> read();

    /**
     * Changes the override of one limit, in one atomic step, and tells the other instances that share the overrides, as
     * {@link ChangeChannel} does with {@link OverrideSynchronizer#TOPIC}.
     *
     * @param id of the limit
     * @param next {@code null}: removes it
     * @param expectedVersion of the present override, or {@link RateLimitAdmin#ANY_VERSION}
     */
    CompletionStage<OverrideSnapshot> write(
            String id, @Nullable RateLimitOverride next, @Nullable String principal, long expectedVersion);

    /** Returns whether other instances change the overrides, too. */
    boolean isShared();
}

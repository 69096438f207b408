package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import org.jspecify.annotations.Nullable;

/** Observes waits, rejections and lost settlements of calls, for meters and traces. */
public interface CallObserver {

    /** Observes nothing. */
    CallObserver NONE = new CallObserver() {};

    /** What {@link #onWait} returns if the end of the wait does not matter. */
    Runnable NOTHING = () -> {};

    /** Returns whether {@link #ofCall} reads what a reactive call is part of. */
    default boolean isTracing() {
        return false;
    }

    /**
     * Returns the observer of a call that the current thread begins and another may continue.
     *
     * @param parent what a reactive call is part of, such as an observation; {@code null}: what the current thread is in
     */
    default CallObserver ofCall(@Nullable Object parent) {
        return this;
    }

    /** Called when a limit rejects a call. */
    default void onRejection(RateLimit limit) {}

    /** Called when a charge of a call stays as it was, though the call has cost more or less. */
    default void onLostSettlement(RateLimit limit) {}

    /**
     * Called before a call waits for the permits of a limit.
     *
     * @return what is called when the wait is over, interrupted or cancelled
     */
    default Runnable onWait(RateLimit limit) {
        return NOTHING;
    }
}

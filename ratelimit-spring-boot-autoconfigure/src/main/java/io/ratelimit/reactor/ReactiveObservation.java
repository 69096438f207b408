package io.ratelimit.reactor;

import io.ratelimit.Internal;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/** Finds the observation that a reactive call is part of. */
@Internal
public final class ReactiveObservation {

    /** The key by which Micrometer and Spring pass it on. */
    private static final String KEY = "micrometer.observation";

    private ReactiveObservation() {}

    /** Returns the observation in a subscriber's context; {@code null} if there is none. */
    public static @Nullable Object in(ContextView context) {
        return context.getOrDefault(KEY, null);
    }
}

package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.limiter.EffectiveLimit;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Finds the limit for the plan of a caller: by what a call says, or by its key. */
interface LimitPlan {

    /** Describes what determines the plan. */
    String text();

    /** Returns whether an expression names the principal. */
    default boolean namesPrincipal() {
        return false;
    }

    /** Returns the limit that applies to a call, as far as its expressions tell. */
    default RateLimit limit(EffectiveLimit limit, Evaluation evaluation) {
        return limit.get();
    }

    /** Returns whether a bean finds the plan by the key. */
    default boolean isResolved() {
        return false;
    }

    /** Returns the limit that applies to a key, as far as its plan is known. */
    default RateLimit limit(EffectiveLimit limit, String key) {
        return limit.get();
    }

    /** Returns what is done when the plan of a key is known, or is no longer waited for; {@code null}: there is no need to wait. */
    default @Nullable CompletableFuture<?> await(String key) {
        return null;
    }
}

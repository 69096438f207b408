package io.ratelimit;

import io.ratelimit.internal.limit.AlgorithmTraits;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The algorithm of a limit: one of {@link Algorithm}, or one of the application.
 *
 * @param builtIn {@code null}: one of the application
 * @param own {@code null}: one of {@link Algorithm}
 */
@Internal
public record LimitAlgorithm(
        @Nullable Algorithm builtIn, @Nullable RateLimitAlgorithm own) {

    static final LimitAlgorithm DEFAULT = of(Algorithm.TOKEN_BUCKET);

    /** Returns the traits with refill CONTINUOUS. */
    AlgorithmTraits traits() {
        return builtIn == null ? AlgorithmTraits.OWN : builtIn.traits;
    }

    public static LimitAlgorithm of(Algorithm builtIn) {
        return new LimitAlgorithm(builtIn, null);
    }

    public static LimitAlgorithm of(RateLimitAlgorithm own) {
        return new LimitAlgorithm(null, own);
    }

    boolean is(Algorithm algorithm) {
        return builtIn == algorithm;
    }

    String name() {
        return builtIn == null ? Objects.requireNonNull(own).name() : builtIn.name();
    }

    @Override
    public String toString() {
        return name();
    }
}

package io.ratelimit.aop;

import java.util.Set;

/**
 * The limited methods that AOT processing has found. A native image finds only registered methods and annotations; one that
 * is missing must not be unlimited.
 *
 * @param signatures as {@link LimitedBeans.BeanMethod#signature} returns them
 */
public record ProcessedMethods(Set<String> signatures) {

    /** The name of the bean that generated code registers. */
    static final String BEAN = "rateLimitProcessedMethods";

    /** Called by generated code. */
    public static ProcessedMethods of(String... signatures) {
        return new ProcessedMethods(Set.of(signatures));
    }
}

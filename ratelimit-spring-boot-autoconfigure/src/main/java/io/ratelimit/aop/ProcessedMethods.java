package io.ratelimit.aop;

import java.util.Set;

/**
 * The limited methods that AOT processing has found. A native image finds only registered methods and annotations; one that
 * is missing must not be unlimited.
 *
 * @param signatures as {@link LimitedBeans.BeanMethod#signature} returns them
 */
public record ProcessedMethods(Set<String> signatures) {

    /** Those of an application that AOT processing has not seen. */
    public static final ProcessedMethods NONE = new ProcessedMethods(Set.of());
}

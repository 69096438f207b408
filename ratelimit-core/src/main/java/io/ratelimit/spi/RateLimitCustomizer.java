package io.ratelimit.spi;

import io.ratelimit.RateLimitBuilder;

/**
 * Changes the declaration of every limit at start-up, of annotations, beans and the configuration. A bean of this type wins
 * over the annotation; what the properties of a limit set wins over it. Several are applied in the order of their beans.
 */
@FunctionalInterface
public interface RateLimitCustomizer {

    /**
     * Changes a limit.
     *
     * @param name the name of the limit as declared
     * @param limit sets attributes; the ones that are not set stay as declared
     */
    void customize(String name, RateLimitBuilder limit);
}

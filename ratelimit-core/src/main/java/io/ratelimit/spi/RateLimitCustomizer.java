package io.ratelimit.spi;

import io.ratelimit.RateLimitBuilder;

/**
 * Changes the declaration of every limit at start-up, of annotations, beans and the configuration. A bean of this type wins
 * over the annotation; what the properties of a limit set wins over it. Several are applied in the order of their beans, and
 * again when Spring Cloud has refreshed the properties.
 */
@FunctionalInterface
public interface RateLimitCustomizer {

    /**
     * Changes a limit.
     *
     * @param name the name of the limit as declared
     * @param limit sets attributes; the ones that are not set stay as declared. If the limit is invalid with them, the start-up
     *     fails, and a refresh changes nothing
     */
    void customize(String name, RateLimitBuilder limit);
}

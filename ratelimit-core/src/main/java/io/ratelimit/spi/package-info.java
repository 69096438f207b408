/**
 * What a store, a clock and a listener must do. Applications implement {@link io.ratelimit.spi.RateLimitStore} to bring a store of
 * their own. API.
 */
@NullMarked
package io.ratelimit.spi;

import org.jspecify.annotations.NullMarked;

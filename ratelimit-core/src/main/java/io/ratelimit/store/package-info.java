/**
 * The SPI for stores: what decides charges and keeps what was used. Applications implement {@link
 * io.ratelimit.store.RateLimitStore} to bring a store of their own.
 */
@NullMarked
package io.ratelimit.store;

import org.jspecify.annotations.NullMarked;

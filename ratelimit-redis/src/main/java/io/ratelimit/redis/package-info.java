/**
 * The script and the library of functions that decide, and what runs them. API: what is not marked
 * {@link io.ratelimit.Internal}.
 */
@NullMarked
package io.ratelimit.redis;

import org.jspecify.annotations.NullMarked;

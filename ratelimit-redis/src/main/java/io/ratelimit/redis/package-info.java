/**
 * The script, the store over it, batching and the circuit breaker: one script a decision. API: what is not marked
 * {@link io.ratelimit.Internal}.
 */
@NullMarked
package io.ratelimit.redis;

import org.jspecify.annotations.NullMarked;

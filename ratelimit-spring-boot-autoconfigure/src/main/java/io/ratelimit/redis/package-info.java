/** The script, the store over it, batching and the circuit breaker: one script a decision. */
@Internal
@NullMarked
package io.ratelimit.redis;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

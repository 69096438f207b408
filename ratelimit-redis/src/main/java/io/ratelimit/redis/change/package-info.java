/** Stores overrides in Redis, and tells instances of changes by its publish and subscribe. */
@Internal
@NullMarked
package io.ratelimit.redis.change;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

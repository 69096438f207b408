/** The one way to a Redis server: a deadline, a circuit breaker for each server, and probes that close it again. */
@Internal
@NullMarked
package io.ratelimit.redis.door;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

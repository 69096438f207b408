/** Shares the figures of instances in Redis. */
@Internal
@NullMarked
package io.ratelimit.redis.statistics;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** The store in Redis: one decision in one script, or on a cluster in one for each slot. */
@Internal
@NullMarked
package io.ratelimit.redis.store;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

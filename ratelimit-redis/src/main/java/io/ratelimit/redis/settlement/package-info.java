/** Refunds and charges after calls, which no caller waits for: collected, paced, and lost aloud. */
@Internal
@NullMarked
package io.ratelimit.redis.settlement;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Calls that arrive together share a script. */
@Internal
@NullMarked
package io.ratelimit.redis.batch;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Reaches Redis: the properties of each server, connections, warm-up, and the stores over them. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure.redis;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

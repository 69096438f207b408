/** Reaches Redis servers: connections, the topology, and the executor that runs the script. */
@Internal
@NullMarked
package io.ratelimit.redis.connection;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

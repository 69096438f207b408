/** Permits of concurrency limits that calls hold in Redis: renewed until they end, then released. */
@Internal
@NullMarked
package io.ratelimit.redis.permit;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

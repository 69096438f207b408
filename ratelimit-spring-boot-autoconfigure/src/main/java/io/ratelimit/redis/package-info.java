/** The store in Redis: one script, one round trip. The only place that knows Spring Data Redis. */
@NullMarked
package io.ratelimit.redis;

import org.jspecify.annotations.NullMarked;

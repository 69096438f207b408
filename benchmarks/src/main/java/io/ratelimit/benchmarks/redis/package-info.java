/** Contestants that count in Redis. */
@NullMarked
package io.ratelimit.benchmarks.redis;

import org.jspecify.annotations.NullMarked;

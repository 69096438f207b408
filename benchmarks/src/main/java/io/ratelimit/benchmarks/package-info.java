/** What the rate limiter costs. */
@NullMarked
package io.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;

/**
 * Defines limits and what applications call: {@link io.ratelimit.RateLimit}, {@link io.ratelimit.RateLimiter},
 * decisions and exceptions. Depends on the JDK only. API: see {@link io.ratelimit.Internal}.
 */
@NullMarked
package io.ratelimit;

import org.jspecify.annotations.NullMarked;

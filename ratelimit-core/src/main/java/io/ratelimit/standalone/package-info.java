/** Limits without a framework: {@link io.ratelimit.standalone.RateLimiters}. API. */
@NullMarked
package io.ratelimit.standalone;

import org.jspecify.annotations.NullMarked;

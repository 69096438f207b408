/** Declares limits of methods and types: {@link io.ratelimit.annotation.RateLimited}. API. */
@NullMarked
package io.ratelimit.annotation;

import org.jspecify.annotations.NullMarked;

/** Limits and rejections in WebFlux applications. */
@Internal
@NullMarked
package io.ratelimit.web.reactive;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

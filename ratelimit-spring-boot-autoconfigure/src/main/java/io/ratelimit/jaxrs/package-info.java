/** Rejections as responses of JAX-RS. */
@Internal
@NullMarked
package io.ratelimit.jaxrs;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

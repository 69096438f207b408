/** The path from a caller to the store: names become limits, several charges become one call, listeners hear of it. */
@Internal
@NullMarked
package io.ratelimit.limiter;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

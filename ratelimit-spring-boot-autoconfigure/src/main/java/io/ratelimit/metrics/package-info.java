/** Meters for decisions and the store. */
@Internal
@NullMarked
package io.ratelimit.metrics;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

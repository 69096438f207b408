/** Turns declarations, properties and SpEL expressions into charges, for method calls and web requests. */
@Internal
@NullMarked
package io.ratelimit.expression;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

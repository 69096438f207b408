/** Creates charges from declarations, properties and SpEL expressions, for method calls and web requests. */
@Internal
@NullMarked
package io.ratelimit.expression;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

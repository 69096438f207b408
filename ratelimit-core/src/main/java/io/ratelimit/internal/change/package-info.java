/** Changes limits while the application runs, on all instances. */
@Internal
@NullMarked
package io.ratelimit.internal.change;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

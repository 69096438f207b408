/** Reports mistakes in the configuration: what is wrong, where, and how to mend it. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure.diagnostics;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

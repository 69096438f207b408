/** Connects callers to the store: resolves names to limits, combines the charges of a call, and notifies listeners. */
@Internal
@NullMarked
package io.ratelimit.internal.limiter;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

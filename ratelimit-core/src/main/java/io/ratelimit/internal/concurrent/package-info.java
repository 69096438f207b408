/** Threads of the starter, waits with a deadline, and the watchdog over work in the background. */
@Internal
@NullMarked
package io.ratelimit.internal.concurrent;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

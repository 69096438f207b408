/** The algorithms in the JVM, pure functions of a bucket's state and the time, and the store that keeps the states. */
@Internal
@NullMarked
package io.ratelimit.internal.memory;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

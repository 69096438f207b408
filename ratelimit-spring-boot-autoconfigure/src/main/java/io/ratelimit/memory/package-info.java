/** The algorithms in the JVM: pure functions of a bucket's state and the time, and the store that keeps the states. */
@NullMarked
package io.ratelimit.memory;

import org.jspecify.annotations.NullMarked;

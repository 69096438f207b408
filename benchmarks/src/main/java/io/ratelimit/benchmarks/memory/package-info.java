/** Contestants that count in the JVM. */
@NullMarked
package io.ratelimit.benchmarks.memory;

import org.jspecify.annotations.NullMarked;

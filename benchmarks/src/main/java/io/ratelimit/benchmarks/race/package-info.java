/** Contestants take turns in one JVM, and are compared turn by turn. */
@NullMarked
package io.ratelimit.benchmarks.race;

import org.jspecify.annotations.NullMarked;

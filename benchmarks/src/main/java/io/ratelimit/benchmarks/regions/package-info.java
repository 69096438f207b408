/** Simulates a limit that is used from several regions. */
@NullMarked
package io.ratelimit.benchmarks.regions;

import org.jspecify.annotations.NullMarked;

/** From samples to a table. */
@NullMarked
package io.ratelimit.benchmarks.results;

import org.jspecify.annotations.NullMarked;

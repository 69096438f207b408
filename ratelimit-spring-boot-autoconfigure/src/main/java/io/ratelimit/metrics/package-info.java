/** What Micrometer counts: calls, and decisions of the store. */
@NullMarked
package io.ratelimit.metrics;

import org.jspecify.annotations.NullMarked;

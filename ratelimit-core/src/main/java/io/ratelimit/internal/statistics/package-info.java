/** Counts the decisions of each limit, for the figures of this instance and of all instances together. */
@Internal
@NullMarked
package io.ratelimit.internal.statistics;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

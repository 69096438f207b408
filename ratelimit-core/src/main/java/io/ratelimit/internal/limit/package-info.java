/** Names, durations and numbers of limits, and what is specific to an algorithm. Below the root, which uses it. */
@Internal
@NullMarked
package io.ratelimit.internal.limit;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Names and durations as a configuration has them. Below the root, which uses it. */
@Internal
@NullMarked
package io.ratelimit.internal.limit;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Permits that an instance takes from the store in advance and hands out in memory. */
@Internal
@NullMarked
package io.ratelimit.internal.store.lease;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

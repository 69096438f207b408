/** Meters for decisions, the store and leases. */
@Internal
@NullMarked
package io.ratelimit.metrics;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

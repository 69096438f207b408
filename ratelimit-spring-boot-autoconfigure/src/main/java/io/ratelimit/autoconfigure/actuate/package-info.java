/** Wires what operators see: endpoint, health, figures, audit. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure.actuate;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

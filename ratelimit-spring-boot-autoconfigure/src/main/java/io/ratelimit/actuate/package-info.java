/** The actuator's endpoint and health. */
@Internal
@NullMarked
package io.ratelimit.actuate;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

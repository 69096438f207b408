/** The Actuator endpoint and the health indicator. */
@Internal
@NullMarked
package io.ratelimit.actuate;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

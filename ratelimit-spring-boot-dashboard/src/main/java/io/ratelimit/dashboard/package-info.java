/** The dashboard: a static page that shows what the actuator endpoint tells its user. */
@Internal
@NullMarked
package io.ratelimit.dashboard;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

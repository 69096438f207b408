/** The actuator's view: what is limited where, and how. */
@NullMarked
package io.ratelimit.actuate;

import org.jspecify.annotations.NullMarked;

/** The actuator's view: what is limited where, and how; and how the store is. */
@NullMarked
package io.ratelimit.actuate;

import org.jspecify.annotations.NullMarked;

/** Publishes events to the listeners of a Spring application. */
@Internal
@NullMarked
package io.ratelimit.event.publisher;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

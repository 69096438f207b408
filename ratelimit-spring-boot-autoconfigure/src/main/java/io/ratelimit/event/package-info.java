/** Spring application events. */
@Internal
@NullMarked
package io.ratelimit.event;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

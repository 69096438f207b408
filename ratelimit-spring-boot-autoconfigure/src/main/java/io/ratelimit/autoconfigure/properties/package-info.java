/** Binds {@code ratelimit}, and checks what it binds. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure.properties;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Callers and rejections of STOMP over WebSocket. */
@Internal
@NullMarked
package io.ratelimit.stomp;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Callers and rejections of STOMP over WebSocket, and rejections of RSocket. */
@Internal
@NullMarked
package io.ratelimit.stomp;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

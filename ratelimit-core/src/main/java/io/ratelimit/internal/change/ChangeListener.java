package io.ratelimit.internal.change;

import io.ratelimit.event.RateLimitChangedEvent;

/**
 * Is told of every change, on the thread that makes or applies it. Must not block; what it throws is logged and changes
 * nothing.
 */
@FunctionalInterface
public interface ChangeListener {

    void onChange(RateLimitChangedEvent event);
}

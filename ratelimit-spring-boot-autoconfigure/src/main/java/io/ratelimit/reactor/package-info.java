/** Limits publishers of Reactor, which is optional. */
@NullMarked
package io.ratelimit.reactor;

import org.jspecify.annotations.NullMarked;

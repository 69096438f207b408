/** Limits publishers of Reactor, and knows the threads of Reactor and Netty. Both are optional. */
@NullMarked
package io.ratelimit.reactor;

import org.jspecify.annotations.NullMarked;

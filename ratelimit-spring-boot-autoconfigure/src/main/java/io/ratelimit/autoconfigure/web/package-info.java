/** Wires what answers requests and messages: both web stacks, gateways, and other protocols. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure.web;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

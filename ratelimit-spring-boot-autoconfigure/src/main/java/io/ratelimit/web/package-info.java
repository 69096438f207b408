/** Shared by both web stacks: URL rules, response headers and problem details. */
@Internal
@NullMarked
package io.ratelimit.web;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

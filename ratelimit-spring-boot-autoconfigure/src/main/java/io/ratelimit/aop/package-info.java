/** Finds limited methods, proxies their beans, and makes the limited call for each kind of return type. */
@Internal
@NullMarked
package io.ratelimit.aop;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Finds limited methods, proxies their beans, and makes limited calls for each kind of return type. */
@Internal
@NullMarked
package io.ratelimit.aop;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

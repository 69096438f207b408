/** Limits and rejections in servlet applications. */
@Internal
@NullMarked
package io.ratelimit.web.servlet;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

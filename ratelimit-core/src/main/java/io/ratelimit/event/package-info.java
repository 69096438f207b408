/** Tells applications of rejections, changes and outages. With Spring, these are application events. None contains a key. */
@NullMarked
package io.ratelimit.event;

import org.jspecify.annotations.NullMarked;

/** Wiring. Knows every other package, and none knows it. */
@NullMarked
package io.ratelimit.autoconfigure;

import org.jspecify.annotations.NullMarked;

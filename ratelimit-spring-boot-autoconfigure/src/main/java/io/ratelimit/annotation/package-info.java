/** What a user writes on a method. */
@NullMarked
package io.ratelimit.annotation;

import org.jspecify.annotations.NullMarked;

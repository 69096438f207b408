/** Filters for functional endpoints of Spring MVC, and for routes of Spring Cloud Gateway on it. */
@NullMarked
package io.ratelimit.web.function;

import org.jspecify.annotations.NullMarked;

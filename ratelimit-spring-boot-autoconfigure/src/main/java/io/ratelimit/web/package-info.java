/** HTTP: what expressions ask of a request, what responses say of limits, and what a rejection looks like. */
@NullMarked
package io.ratelimit.web;

import org.jspecify.annotations.NullMarked;

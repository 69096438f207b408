/** Describes limited operations in an OpenAPI document, by springdoc-openapi. */
@Internal
@NullMarked
package io.ratelimit.web.openapi;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

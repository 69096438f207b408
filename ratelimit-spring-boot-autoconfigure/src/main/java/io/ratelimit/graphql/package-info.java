/** Rejections as errors of GraphQL. */
@Internal
@NullMarked
package io.ratelimit.graphql;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** What decorators of stores share. */
@Internal
@NullMarked
package io.ratelimit.internal.store;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

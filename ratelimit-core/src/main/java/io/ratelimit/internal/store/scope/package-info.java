/** Separates limits that each instance applies on its own from those that instances share. */
@Internal
@NullMarked
package io.ratelimit.internal.store.scope;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

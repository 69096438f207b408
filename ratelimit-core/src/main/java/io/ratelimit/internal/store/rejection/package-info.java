/** Negative cache: rejects without the store while a rejection of the store is known to hold. */
@Internal
@NullMarked
package io.ratelimit.internal.store.rejection;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

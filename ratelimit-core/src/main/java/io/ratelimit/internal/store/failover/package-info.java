/** Decides by {@link io.ratelimit.OnStoreFailure} while the store cannot. */
@Internal
@NullMarked
package io.ratelimit.internal.store.failover;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** Wires everything together. Imports all packages; none imports it. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

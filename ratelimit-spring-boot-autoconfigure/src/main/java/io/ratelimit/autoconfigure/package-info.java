/** Wires everything together. Imports all packages, and only packages below import it. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

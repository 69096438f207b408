/** Wires everything together. Imports all packages, and no package imports it. */
@Internal
@NullMarked
package io.ratelimit.autoconfigure;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

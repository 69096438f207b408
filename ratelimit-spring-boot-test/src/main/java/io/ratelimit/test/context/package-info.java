/** Prepares the application context of a test, and each test method. */
@Internal
@NullMarked
package io.ratelimit.test.context;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

/** The contract of algorithms that an application declares itself. */
@NullMarked
package io.ratelimit.test.algorithm;

import org.jspecify.annotations.NullMarked;

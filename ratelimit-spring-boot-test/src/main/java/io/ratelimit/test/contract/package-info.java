/** The contracts of algorithms and stores that an application declares itself. */
@NullMarked
package io.ratelimit.test.contract;

import org.jspecify.annotations.NullMarked;

/** Tests of applications with limits: in memory, with a clock that the test moves, and with assertions. */
@NullMarked
package io.ratelimit.test;

import org.jspecify.annotations.NullMarked;

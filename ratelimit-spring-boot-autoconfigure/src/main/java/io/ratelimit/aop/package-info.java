/** From the annotation to the advice: what is limited, how its expressions are evaluated, and the call itself. */
@NullMarked
package io.ratelimit.aop;

import org.jspecify.annotations.NullMarked;

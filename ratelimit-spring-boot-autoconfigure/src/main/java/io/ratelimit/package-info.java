/**
 * The domain and the SPI: what a limit is, who decides, what a decision says. Knows the JDK only.
 */
@NullMarked
package io.ratelimit;

import org.jspecify.annotations.NullMarked;

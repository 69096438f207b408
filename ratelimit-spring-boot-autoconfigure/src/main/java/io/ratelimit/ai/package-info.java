/** Limits calls of language models by Spring AI, and charges the tokens that they use. Spring AI is optional. */
@NullMarked
package io.ratelimit.ai;

import org.jspecify.annotations.NullMarked;

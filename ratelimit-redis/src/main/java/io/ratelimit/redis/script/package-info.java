/** What is said to the script and what it answers: arguments, keys, replies, receipts. */
@Internal
@NullMarked
package io.ratelimit.redis.script;

import io.ratelimit.Internal;
import org.jspecify.annotations.NullMarked;

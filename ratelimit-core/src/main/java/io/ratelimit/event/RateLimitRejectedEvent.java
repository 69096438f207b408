package io.ratelimit.event;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.RateLimitListener;
import java.time.Instant;

/**
 * Published as a Spring application event when a limit rejects a call; not by a limit in {@linkplain RateLimit#dryRun() dry
 * run}, nor when it rejects a call that a listener of this event makes on the thread of the event. If several limits reject a call, each
 * has its event.
 *
 * <p>It does not contain the key, because events are passed on: to logs, brokers and tables. Code that needs the key is a
 * {@link RateLimitListener}.
 *
 * @param permits what the call asked for
 * @param time when the call was rejected; the event is published later, in the background
 */
public record RateLimitRejectedEvent(String limitName, long permits, RateLimitDecision decision, Instant time) {}

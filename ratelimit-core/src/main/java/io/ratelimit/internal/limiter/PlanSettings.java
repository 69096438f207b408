package io.ratelimit.internal.limiter;

import java.time.Duration;

/**
 * How plans that a bean finds are kept.
 *
 * @param cache the time after which the plan of a key is asked for again
 * @param maxKeys how many keys of each limit have their plan kept
 * @param timeout the longest time that a call waits for a plan that is not known
 */
public record PlanSettings(Duration cache, int maxKeys, Duration timeout) {}

package io.ratelimit.architecture.breach.event;

import io.ratelimit.architecture.breach.limiter.LimiterKnowsExpression;

/** An arrow that must not be. */
public class EventKnowsLimiter {

    LimiterKnowsExpression known;
}

package io.ratelimit.architecture.breach.reactor;

import io.ratelimit.architecture.breach.limiter.LimiterKnowsExpression;

/** An arrow that must not be. */
public class ReactorKnowsLimiter {

    LimiterKnowsExpression known;
}

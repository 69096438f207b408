package io.ratelimit.architecture.breach.statistics;

import io.ratelimit.architecture.breach.limiter.LimiterKnowsExpression;

/** An arrow that must not be. */
public class StatisticsKnowsLimiter {

    LimiterKnowsExpression known;
}

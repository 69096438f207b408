package io.ratelimit.architecture.breach.limiter;

import io.ratelimit.architecture.breach.expression.ExpressionKnowsAop;

/** An arrow that must not be. */
public class LimiterKnowsExpression {

    ExpressionKnowsAop known;
}

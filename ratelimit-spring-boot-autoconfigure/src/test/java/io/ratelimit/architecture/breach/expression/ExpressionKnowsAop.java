package io.ratelimit.architecture.breach.expression;

import io.ratelimit.architecture.breach.aop.AopKnowsWeb;

/** An arrow that must not be. */
public class ExpressionKnowsAop {

    AopKnowsWeb known;
}

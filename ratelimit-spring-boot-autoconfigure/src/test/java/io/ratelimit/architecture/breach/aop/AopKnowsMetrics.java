package io.ratelimit.architecture.breach.aop;

import io.ratelimit.architecture.breach.metrics.MetricsKnowsReactor;

/** An arrow that must not be. */
public class AopKnowsMetrics {

    MetricsKnowsReactor known;
}

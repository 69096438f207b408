package io.ratelimit.architecture.breach.redis;

import io.ratelimit.architecture.breach.metrics.MetricsKnowsActuate;

/** A store knows nothing of what counts it. */
public class RedisKnowsMetrics {

    Object known = new MetricsKnowsActuate();
}

package io.ratelimit.architecture.breach.metrics;

import io.ratelimit.architecture.breach.actuate.ActuateKnowsMetrics;

/** One half of a cycle. */
public class MetricsKnowsActuate {

    Object known = new ActuateKnowsMetrics();
}

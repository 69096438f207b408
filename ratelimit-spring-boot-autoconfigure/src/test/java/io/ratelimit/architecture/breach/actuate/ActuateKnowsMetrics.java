package io.ratelimit.architecture.breach.actuate;

import io.ratelimit.architecture.breach.metrics.MetricsKnowsActuate;

/** The other half of a cycle. */
public class ActuateKnowsMetrics {

    MetricsKnowsActuate known;
}

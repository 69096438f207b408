package io.ratelimit.architecture.breach;

import io.ratelimit.architecture.breach.actuate.ActuateKnowsMetrics;

/** The root package knows none below it. */
public class RootKnowsActuate {

    ActuateKnowsMetrics known;
}

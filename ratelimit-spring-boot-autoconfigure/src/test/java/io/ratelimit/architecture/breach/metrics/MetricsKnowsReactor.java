package io.ratelimit.architecture.breach.metrics;

import reactor.core.publisher.Mono;

/** Reactor outside of what reactive calls need. */
public class MetricsKnowsReactor {

    Mono<String> known = Mono.empty();
}

package io.ratelimit.expression;

import reactor.core.publisher.Mono;

/** Finds the requests of reactive calls in the subscriber's context. */
@FunctionalInterface
public interface ReactiveRequestCallSource {

    /** The source of an application without reactive requests. */
    ReactiveRequestCallSource NONE = withPrincipal -> Mono.empty();

    /**
     * Returns a call during the request, or an empty Mono outside of a request.
     *
     * @param withPrincipal whether an expression reads the principal, which may take time to resolve
     */
    Mono<RequestCall> current(boolean withPrincipal);

    /** Returns what expressions can read during a request. */
    default CallerFacts facts() {
        return this == NONE ? CallerFacts.NONE : CallerFacts.REQUEST;
    }
}

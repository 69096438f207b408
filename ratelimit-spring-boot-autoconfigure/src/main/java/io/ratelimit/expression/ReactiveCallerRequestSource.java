package io.ratelimit.expression;

import reactor.core.publisher.Mono;

/** Finds the requests of reactive calls in the subscriber's context. */
@FunctionalInterface
public interface ReactiveCallerRequestSource {

    /**
     * Returns the request, or an empty Mono outside of a request.
     *
     * @param withPrincipal whether an expression reads the principal, which may take time to resolve
     */
    Mono<CallerRequest> current(boolean withPrincipal);

    /** Returns the source of an application without reactive requests. */
    static ReactiveCallerRequestSource none() {
        return new ReactiveCallerRequestSource() {
            @Override
            public Mono<CallerRequest> current(boolean withPrincipal) {
                return Mono.empty();
            }

            @Override
            public CallerFacts facts() {
                return CallerFacts.NONE;
            }
        };
    }

    /** Returns what expressions can read during a request. */
    default CallerFacts facts() {
        return CallerFacts.REQUEST;
    }
}

package io.ratelimit.expression;

import reactor.core.publisher.Mono;

/** The requests of reactive calls, which are in the subscriber's context. */
@FunctionalInterface
public interface ReactiveCallerRequests {

    /**
     * The request, or nothing outside of one.
     *
     * @param withPrincipal whether somebody will ask who is logged in, which may take a while to find out
     */
    Mono<CallerRequest> current(boolean withPrincipal);

    /** For an application without reactive requests. */
    static ReactiveCallerRequests none() {
        return new ReactiveCallerRequests() {
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

    /** What is known wherever there is a request. */
    default CallerFacts facts() {
        return CallerFacts.REQUEST;
    }
}

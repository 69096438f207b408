package io.ratelimit.aop;

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
        return withPrincipal -> Mono.empty();
    }
}

package io.ratelimit.web.reactive;

import io.ratelimit.expression.CallerFacts;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.ReactiveCallerRequests;
import reactor.core.publisher.Mono;

/** Who is logged in, where there are no web requests. */
public final class SecurityCallerRequests implements ReactiveCallerRequests {

    @Override
    public Mono<CallerRequest> current(boolean withPrincipal) {
        return withPrincipal ? SecurityPrincipal.current().map(PrincipalCallerRequest::new) : Mono.empty();
    }

    @Override
    public CallerFacts facts() {
        return CallerFacts.PRINCIPAL;
    }
}

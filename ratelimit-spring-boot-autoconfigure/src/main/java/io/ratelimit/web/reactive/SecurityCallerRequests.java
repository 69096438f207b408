package io.ratelimit.web.reactive;

import io.ratelimit.expression.CallerFacts;
import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import java.security.Principal;
import org.springframework.security.authentication.AuthenticationTrustResolver;
import org.springframework.security.authentication.AuthenticationTrustResolverImpl;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import reactor.core.publisher.Mono;

/** Finds the caller that Spring Security has authenticated, in an application without web requests. */
public final class SecurityCallerRequests implements ReactiveRequestCallSource {

    private static final AuthenticationTrustResolver TRUST = new AuthenticationTrustResolverImpl();

    @Override
    public Mono<RequestCall> current(boolean withPrincipal) {
        return withPrincipal ? principal().map(PrincipalCall::new) : Mono.empty();
    }

    @Override
    public CallerFacts facts() {
        return CallerFacts.PRINCIPAL;
    }

    /** Finds the authenticated principal in the Reactor context. Empty for an anonymous caller. */
    static Mono<Principal> principal() {
        return ReactiveSecurityContextHolder.getContext()
                .<Principal>flatMap(context -> Mono.justOrEmpty(context.getAuthentication()))
                .filter(SecurityCallerRequests::isAuthenticated);
    }

    /** Whether the principal is not anonymous. */
    static boolean isAuthenticated(Principal principal) {
        return !(principal instanceof Authentication authentication && TRUST.isAnonymous(authentication));
    }
}

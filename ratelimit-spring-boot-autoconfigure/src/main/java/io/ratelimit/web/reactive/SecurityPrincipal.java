package io.ratelimit.web.reactive;

import java.security.Principal;
import org.springframework.security.authentication.AuthenticationTrustResolver;
import org.springframework.security.authentication.AuthenticationTrustResolverImpl;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import reactor.core.publisher.Mono;

/** Who is logged in, as Spring Security has it in the Reactor context. Who is anonymous is nobody. */
final class SecurityPrincipal {

    private static final AuthenticationTrustResolver TRUST = new AuthenticationTrustResolverImpl();

    private SecurityPrincipal() {}

    static Mono<Principal> current() {
        return ReactiveSecurityContextHolder.getContext()
                .<Principal>flatMap(context -> Mono.justOrEmpty(context.getAuthentication()))
                .filter(SecurityPrincipal::isSomebody);
    }

    static boolean isSomebody(Principal principal) {
        return !(principal instanceof Authentication authentication && TRUST.isAnonymous(authentication));
    }
}

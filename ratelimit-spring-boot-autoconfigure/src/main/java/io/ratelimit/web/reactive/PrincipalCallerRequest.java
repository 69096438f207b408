package io.ratelimit.web.reactive;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.RequestCall;
import java.security.Principal;

/** Answers expressions outside of a web request, where only the principal is known. */
record PrincipalCallerRequest(Principal principal) implements CallerRequest {

    static RequestCall call(Principal principal) {
        return () -> new PrincipalCallerRequest(principal);
    }

    @Override
    public String clientIp() {
        throw new IllegalStateException("clientIp must be used during a web request");
    }

    @Override
    public String header(String name) {
        throw new IllegalStateException("header() must be used during a web request");
    }
}

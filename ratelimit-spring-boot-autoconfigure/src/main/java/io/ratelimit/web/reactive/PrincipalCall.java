package io.ratelimit.web.reactive;

import io.ratelimit.expression.RequestCall;
import java.security.Principal;

/** A call outside of a web request, where only the principal is known. */
record PrincipalCall(Principal principal) implements RequestCall {

    @Override
    public String clientIp() {
        throw new IllegalStateException("clientIp must be used during a web request");
    }

    @Override
    public String header(String name) {
        throw new IllegalStateException("header() must be used during a web request");
    }
}

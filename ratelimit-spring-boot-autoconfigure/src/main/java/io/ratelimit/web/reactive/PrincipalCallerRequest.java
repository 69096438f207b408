package io.ratelimit.web.reactive;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallerRequest;
import java.security.Principal;
import java.util.List;

/** What is known of a caller outside of a web request: who it is. */
record PrincipalCallerRequest(Principal principal) implements CallerRequest {

    @Override
    public String clientIp() {
        throw new IllegalStateException("clientIp needs a web request, and there is none");
    }

    @Override
    public String header(String name) {
        throw new IllegalStateException("header() needs a web request, and there is none");
    }

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {}
}

package io.ratelimit.web.reactive;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.spi.Charge;
import java.security.Principal;
import java.util.List;

/** Answers expressions outside of a web request, where only the principal is known. */
record PrincipalCallerRequest(Principal principal) implements CallerRequest {

    static RequestCall call(Principal principal) {
        return new PrincipalCall(new PrincipalCallerRequest(principal));
    }

    @Override
    public String clientIp() {
        throw new IllegalStateException("clientIp must be used during a web request");
    }

    @Override
    public String header(String name) {
        throw new IllegalStateException("header() must be used during a web request");
    }

    private record PrincipalCall(CallerRequest request) implements RequestCall {

        /** There is no response that could show them. */
        @Override
        public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {}
    }
}

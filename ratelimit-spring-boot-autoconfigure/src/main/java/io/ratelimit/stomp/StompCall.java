package io.ratelimit.stomp;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.spi.Charge;
import java.util.List;

/** A call while a STOMP message is handled. There is no response that tells of its decisions. */
record StompCall(CallerRequest request) implements RequestCall {

    @Override
    public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {}
}

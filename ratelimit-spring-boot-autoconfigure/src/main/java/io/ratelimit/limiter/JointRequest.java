package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.JointDecision;
import io.ratelimit.PermitRequest;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * Several requests that are decided together, checked.
 *
 * @param requested a charge for each
 * @param charges those of limits that are enabled
 */
record JointRequest(List<Charge> requested, List<Charge> charges) {

    /** @throws IllegalArgumentException as {@link RateLimiterRegistry#tryAcquireAll} says */
    static JointRequest of(List<PermitRequest> requests, Function<String, RateLimit> limits) {
        if (requests.isEmpty()) {
            throw new IllegalArgumentException("There is no request: ask at least one limit");
        }
        List<Charge> requested = new ArrayList<>(requests.size());
        List<Charge> charges = new ArrayList<>(requests.size());
        for (PermitRequest request : requests) {
            Charge charge = Charge.keyed(limits.apply(request.limitName()), request.key(), request.permits());
            checkOtherBucket(charge, requested);
            requested.add(charge);
            if (charge.limit().enabled()) {
                charges.add(charge);
            }
        }
        return new JointRequest(requested, charges);
    }

    private static void checkOtherBucket(Charge charge, List<Charge> others) {
        for (Charge other : others) {
            if (other.limit() == charge.limit() && Objects.equals(other.key(), charge.key())) {
                throw new IllegalArgumentException("Limit '" + charge.limit().name()
                        + "': two requests are for the same key; ask for all its permits in one");
            }
        }
    }

    /** The answer where every limit is disabled: what the smallest of them would say. */
    JointDecision unlimited() {
        long capacity = requested.stream()
                .mapToLong(charge -> charge.limit().capacity())
                .min()
                .orElseThrow();
        return new JointDecision(RateLimitDecision.unlimited(capacity), List.of());
    }
}

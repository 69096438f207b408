package io.ratelimit.internal.store;

import io.ratelimit.Internal;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Combines the outcomes of a request whose charges were decided in several places. */
@Internal
public final class CombinedOutcome {

    private CombinedOutcome() {}

    /**
     * Returns the outcome of the request. It refunds each charge where that was decided, if the request is refundable.
     *
     * @param parts together one decision for each charge
     */
    public static StoreOutcome of(StoreRequest request, Collection<StoreOutcome> parts) {
        Map<Charge, RateLimitDecision> decisions = new HashMap<>();
        for (StoreOutcome part : parts) {
            for (int i = 0; i < part.charges().size(); i++) {
                decisions.put(part.charges().get(i), part.decisions().get(i));
            }
        }
        List<RateLimitDecision> inOrder = request.charges().stream()
                .map(decisions::get)
                .map(Objects::requireNonNull)
                .toList();
        return request.refundable()
                ? StoreOutcome.of(request, inOrder, permits -> Futures.forAll(parts, part -> refund(part, permits)))
                : StoreOutcome.of(request, inOrder);
    }

    /** Returns the outcome of charges that are allowed, and not made. */
    public static StoreOutcome allowed(StoreRequest request) {
        return StoreOutcome.of(
                request,
                request.charges().stream()
                        .map(charge ->
                                RateLimitDecision.unlimited(charge.limit().capacity()))
                        .toList());
    }

    private static CompletionStage<Void> refund(StoreOutcome part, Map<Charge, Long> permits) {
        Map<Charge, Long> some = new HashMap<>(permits);
        some.keySet().retainAll(part.charges());
        return some.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : Futures.start(() -> part.refund().refund(some));
    }
}

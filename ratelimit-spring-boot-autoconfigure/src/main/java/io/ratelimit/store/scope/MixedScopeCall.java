package io.ratelimit.store.scope;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Scope;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.Refund;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A call with limits of both scopes. Those of this instance are charged first, because that takes no round trip, and refunded
 * if a shared limit rejects the call.
 */
final class MixedScopeCall {

    private final StoreRequest request;

    private final RateLimitStore instance;

    private final List<Charge> own;

    private final StoreRequest shared;

    /** About the charges of this instance. */
    private final StoreOutcome decided;

    /** Charges the limits of this instance. */
    MixedScopeCall(StoreRequest request, RateLimitStore instance) {
        this.request = request;
        this.instance = instance;
        this.own = of(Scope.INSTANCE, request.charges());
        this.shared = request.with(of(Scope.SHARED, request.charges()));
        this.decided = instance.decide(StoreRequest.refundable(own));
    }

    private static List<Charge> of(Scope scope, List<Charge> charges) {
        return charges.stream()
                .filter(charge -> charge.limit().scope() == scope)
                .toList();
    }

    private static Map<Charge, Long> of(Scope scope, Map<Charge, Long> permits) {
        Map<Charge, Long> some = new HashMap<>(permits);
        some.keySet().removeIf(charge -> charge.limit().scope() != scope);
        return some;
    }

    /** Returns whether a limit of this instance rejects the call. */
    boolean isRejectedByInstance() {
        return decided.isRejected();
    }

    /** Returns the request for the shared store. */
    StoreRequest sharedRequest() {
        return shared;
    }

    /** The call was not decided. */
    void undo() {
        refund(own);
    }

    /** Returns the outcome, or throws the failure of the shared store. */
    StoreOutcome outcome(@Nullable StoreOutcome others, @Nullable Throwable thrown) {
        if (others == null) {
            undo();
            throw Futures.wrap(thrown);
        }
        return outcome(others);
    }

    /** Returns the outcome, with that of the shared store for the other charges. */
    StoreOutcome outcome(StoreOutcome others) {
        List<RateLimitDecision> ofInstance =
                others.isRejected() && !isRejectedByInstance() ? takenBack() : decided.decisions();
        List<RateLimitDecision> decisions = inOrder(ofInstance, others.decisions());
        return request.refundable()
                ? StoreOutcome.of(request, decisions, refund(others.refund()))
                : StoreOutcome.of(request, decisions);
    }

    /** Refunds the charges of limits that are enforced, and returns the decisions without them. */
    private List<RateLimitDecision> takenBack() {
        List<Charge> enforced =
                own.stream().filter(charge -> !charge.limit().dryRun()).toList();
        refund(enforced);
        List<RateLimitDecision> decisions = new ArrayList<>(own.size());
        for (int i = 0; i < own.size(); i++) {
            Charge charge = own.get(i);
            decisions.add(
                    enforced.contains(charge)
                            ? instance.peek(charge)
                            : decided.decisions().get(i));
        }
        return decisions;
    }

    private void refund(List<Charge> charges) {
        // In memory it is done when this returns, and cannot fail.
        var unused = decided.refund().refund(charges);
    }

    private List<RateLimitDecision> inOrder(List<RateLimitDecision> ofInstance, List<RateLimitDecision> ofShared) {
        Iterator<RateLimitDecision> first = ofInstance.iterator();
        Iterator<RateLimitDecision> second = ofShared.iterator();
        return request.charges().stream()
                .map(charge -> (charge.limit().scope() == Scope.INSTANCE ? first : second).next())
                .toList();
    }

    private Refund refund(Refund others) {
        return permits -> CompletableFuture.allOf(
                decided.refund().refund(of(Scope.INSTANCE, permits)).toCompletableFuture(),
                others.refund(of(Scope.SHARED, permits)).toCompletableFuture());
    }
}

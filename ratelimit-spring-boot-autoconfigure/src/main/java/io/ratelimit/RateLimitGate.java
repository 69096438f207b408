package io.ratelimit;

import io.ratelimit.RateLimitListener.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The one way to the store: asks it, lets through what is in dry run, and tells the listeners. */
public final class RateLimitGate {

    private final RateLimitStore store;

    private final RateLimitListener listener;

    public RateLimitGate(RateLimitStore store, RateLimitListener listener) {
        this.store = store;
        this.listener = listener;
    }

    /**
     * Charges every limit, or none.
     *
     * @throws RateLimitExceededException if a limit rejects
     */
    public void enter(List<Charge> charges) {
        List<RateLimitDecision> decisions = store.decide(charges);
        if (report(charges, decisions)) {
            throw rejection(charges, decisions);
        }
    }

    RateLimitDecision decide(Charge charge) {
        return verdict(charge, store.decide(List.of(charge)).get(0));
    }

    CompletionStage<RateLimitDecision> decideAsync(Charge charge) {
        return store.decideAsync(List.of(charge)).thenApply(decisions -> verdict(charge, decisions.get(0)));
    }

    RateLimitDecision peek(Charge charge) {
        RateLimitDecision decision = store.peek(charge);
        return charge.limit().dryRun() ? decision.letThrough() : decision;
    }

    void reset(RateLimit limit, @Nullable String key) {
        store.reset(limit, key);
    }

    private RateLimitDecision verdict(Charge charge, RateLimitDecision decision) {
        report(List.of(charge), List.of(decision));
        return charge.limit().dryRun() ? decision.letThrough() : decision;
    }

    /** Tells the listeners. Returns whether the call is rejected. */
    private boolean report(List<Charge> charges, List<RateLimitDecision> decisions) {
        boolean rejected = isRejected(charges, decisions);
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            RateLimitDecision decision = decisions.get(i);
            if (!decision.allowed()) {
                listener.onDecision(
                        charge, decision, charge.limit().dryRun() ? Outcome.DRY_RUN_REJECTED : Outcome.REJECTED);
            } else if (!rejected || charge.limit().dryRun()) {
                listener.onDecision(charge, decision, Outcome.ALLOWED);
            }
            // A limit that would have allowed what another rejects was not charged: it has nothing to report.
        }
        return rejected;
    }

    private static boolean isRejected(List<Charge> charges, List<RateLimitDecision> decisions) {
        for (int i = 0; i < charges.size(); i++) {
            if (isRejected(charges.get(i), decisions.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRejected(Charge charge, RateLimitDecision decision) {
        return !decision.allowed() && !charge.limit().dryRun();
    }

    private static RateLimitExceededException rejection(List<Charge> charges, List<RateLimitDecision> decisions) {
        List<Integer> tightestFirst = new ArrayList<>(IntStream.range(0, charges.size())
                .filter(i -> isRejected(charges.get(i), decisions.get(i)))
                .boxed()
                .toList());
        tightestFirst.sort(Comparator.comparing(
                i -> decisions.get(i).retryAfter(), Comparator.nullsFirst(Comparator.<Duration>reverseOrder())));
        List<String> names =
                tightestFirst.stream().map(i -> charges.get(i).limit().name()).toList();
        return new RateLimitExceededException(names, decisions.get(tightestFirst.get(0)));
    }
}

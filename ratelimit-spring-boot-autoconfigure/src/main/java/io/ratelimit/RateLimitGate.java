package io.ratelimit;

import io.ratelimit.RateLimitListener.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The one way to the store: asks it, lets through what is in dry run, tells the listeners, and waits. */
public final class RateLimitGate {

    private final RateLimitStore store;

    private final RateLimitListener listener;

    private final Waiter waiter;

    private final CapacityLog capacityLog = new CapacityLog();

    public RateLimitGate(RateLimitStore store, RateLimitListener listener, Waiter waiter) {
        this.store = store;
        this.listener = listener;
        this.waiter = waiter;
    }

    /**
     * Charges every limit, or none, and waits once for the last of the slots that were taken.
     *
     * @param charges at least one, and no two of one bucket
     * @throws RateLimitExceededException if a limit rejects
     * @throws RateLimitInterruptedException if the thread has to wait and is interrupted
     */
    public void enter(List<Charge> charges) {
        Verdict verdict = told(charges, store.decide(charges));
        if (verdict.isRejected()) {
            throw verdict.rejection();
        }
        Duration delay = verdict.delay();
        if (!delay.isZero()) {
            await(delay, verdict);
        }
    }

    /** Charges every limit, or none, and does not wait. */
    JointDecision decide(List<Charge> charges) {
        return told(charges, store.decide(charges)).joint();
    }

    /** As {@link #decide}, without blocking. */
    CompletionStage<JointDecision> decideAsync(List<Charge> charges) {
        return store.decideAsync(charges)
                .thenApply(decisions -> told(charges, decisions).joint());
    }

    RateLimitDecision peek(Charge charge) {
        RateLimitDecision decision = store.peek(charge);
        return charge.limit().dryRun() ? decision.letThrough() : decision;
    }

    void reset(RateLimit limit, @Nullable String key) {
        store.reset(limit, key);
    }

    private void await(Duration delay, Verdict verdict) {
        try {
            waiter.await(delay);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(verdict.delayedBy(delay), ex);
        }
    }

    /** Tells the listeners of the decisions, each once. */
    private Verdict told(List<Charge> charges, List<RateLimitDecision> decisions) {
        Verdict verdict = new Verdict(charges, decisions);
        boolean rejected = verdict.isRejected();
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            RateLimitDecision decision = decisions.get(i);
            if (!decision.allowed()) {
                listener.onDecision(
                        charge, decision, charge.limit().dryRun() ? Outcome.DRY_RUN_REJECTED : Outcome.REJECTED);
                if (decision.retryAfter() == null) {
                    capacityLog.beyondCapacity(charge);
                }
            } else if (!rejected || charge.limit().dryRun()) {
                listener.onDecision(charge, decision, Outcome.ALLOWED);
            }
            // A limit that would have allowed what another rejects was not charged: it has nothing to report.
        }
        return verdict;
    }
}

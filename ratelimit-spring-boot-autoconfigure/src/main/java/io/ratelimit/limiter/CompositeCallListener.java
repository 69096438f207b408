package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Tells the listener of a call, which cannot break it. */
final class CompositeCallListener {

    private static final System.Logger logger = System.getLogger("io.ratelimit.listeners");

    private final AtomicBoolean warned = new AtomicBoolean();

    void tell(CallListener listener, List<Charge> charges, List<RateLimitDecision> decisions) {
        try {
            listener.onDecisions(charges, decisions);
        } catch (RuntimeException ex) {
            if (warned.compareAndSet(false, true)) {
                logger.log(Level.WARNING, "The listener of a call failed; further failures are not logged", ex);
            }
        }
    }
}

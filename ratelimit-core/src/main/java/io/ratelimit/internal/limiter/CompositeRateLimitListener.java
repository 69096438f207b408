package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** Notifies several listeners. What one throws affects neither the call nor the others. */
public final class CompositeRateLimitListener implements RateLimitListener {

    private volatile RateLimitListener[] listeners;

    private final FirstFailureLog failures = failures();

    public CompositeRateLimitListener(List<RateLimitListener> listeners) {
        this.listeners = listeners.toArray(RateLimitListener[]::new);
    }

    static FirstFailureLog failures() {
        return new FirstFailureLog(
                "io.ratelimit.listeners", "A rate limit listener failed; its further failures are not logged");
    }

    /** Adds a listener that is notified last, from now on. */
    public synchronized void add(RateLimitListener listener) {
        RateLimitListener[] more = Arrays.copyOf(listeners, listeners.length + 1);
        more[listeners.length] = listener;
        listeners = more;
    }

    @Override
    public void onLimit(RateLimit limit) {
        tell(listener -> listener.onLimit(limit));
    }

    /** Allocates nothing: it is called for each decision. */
    @Override
    public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {
        for (RateLimitListener listener : listeners) {
            try {
                listener.onDecision(charge, decision, outcome);
            } catch (Throwable ex) {
                failures.log(ex);
            }
        }
    }

    @Override
    public void onRefusal(Charge charge, RateLimitStoreException failure) {
        tell(listener -> listener.onRefusal(charge, failure));
    }

    private void tell(Consumer<RateLimitListener> event) {
        for (RateLimitListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (Throwable ex) {
                failures.log(ex);
            }
        }
    }
}

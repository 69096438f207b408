package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells several observers. An exception of one affects neither the call nor the others. */
public record CompositeCallObserver(List<CallObserver> observers, FirstFailureLog failures, boolean isTracing)
        implements CallObserver {

    private CompositeCallObserver(List<CallObserver> observers, FirstFailureLog failures) {
        this(observers, failures, observers.stream().anyMatch(CallObserver::isTracing));
    }

    /** Returns an observer that tells all of these, and costs nothing if there is none. */
    public static CallObserver of(List<CallObserver> observers) {
        List<CallObserver> observing =
                observers.stream().filter(observer -> observer != NONE).toList();
        return observing.isEmpty() ? NONE : new CompositeCallObserver(observing, CompositeRateLimitListener.failures());
    }

    @Override
    public CallObserver ofCall(@Nullable Object parent) {
        if (!isTracing) {
            return this;
        }
        List<CallObserver> ofCall = new ArrayList<>(observers);
        guard(() -> ofCall.replaceAll(observer -> observer.ofCall(parent)));
        return new CompositeCallObserver(ofCall, failures);
    }

    @Override
    public void onRejection(RateLimit limit) {
        observers.forEach(observer -> guard(() -> observer.onRejection(limit)));
    }

    @Override
    public void onLostSettlement(RateLimit limit) {
        observers.forEach(observer -> guard(() -> observer.onLostSettlement(limit)));
    }

    @Override
    public Runnable onWait(RateLimit limit) {
        List<Runnable> ends = new ArrayList<>(observers.size());
        observers.forEach(observer -> guard(() -> ends.add(observer.onWait(limit))));
        return () -> ends.forEach(this::guard);
    }

    private void guard(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException ex) {
            failures.log(ex);
        }
    }
}

package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells several observers. An exception of one affects neither the call nor the others. */
public final class CompositeCallObserver implements CallObserver {

    private static final System.Logger logger = System.getLogger("io.ratelimit.listeners");

    private final List<CallObserver> observers;

    private final AtomicBoolean warned;

    private final boolean tracing;

    private CompositeCallObserver(List<CallObserver> observers, AtomicBoolean warned) {
        this.observers = observers;
        this.warned = warned;
        this.tracing = observers.stream().anyMatch(CallObserver::isTracing);
    }

    /** Returns an observer that tells all of these, and costs nothing if there is none. */
    public static CallObserver of(List<CallObserver> observers) {
        List<CallObserver> observing =
                observers.stream().filter(observer -> observer != NONE).toList();
        return observing.isEmpty() ? NONE : new CompositeCallObserver(observing, new AtomicBoolean());
    }

    @Override
    public boolean isTracing() {
        return tracing;
    }

    @Override
    public CallObserver ofCall(@Nullable Object parent) {
        try {
            return tracing
                    ? new CompositeCallObserver(
                            observers.stream()
                                    .map(observer -> observer.ofCall(parent))
                                    .toList(),
                            warned)
                    : this;
        } catch (RuntimeException ex) {
            warn(ex);
            return this;
        }
    }

    @Override
    public void onRejection(RateLimit limit) {
        tell(observer -> observer.onRejection(limit));
    }

    @Override
    public void onLostSettlement(RateLimit limit) {
        tell(observer -> observer.onLostSettlement(limit));
    }

    private void tell(Consumer<CallObserver> event) {
        for (CallObserver observer : observers) {
            try {
                event.accept(observer);
            } catch (RuntimeException ex) {
                warn(ex);
            }
        }
    }

    @Override
    public Runnable onWait(RateLimit limit) {
        List<Runnable> ends =
                observers.stream().map(observer -> begin(observer, limit)).toList();
        return () -> ends.forEach(this::end);
    }

    private Runnable begin(CallObserver observer, RateLimit limit) {
        try {
            return observer.onWait(limit);
        } catch (RuntimeException ex) {
            warn(ex);
            return NOTHING;
        }
    }

    private void end(Runnable wait) {
        try {
            wait.run();
        } catch (RuntimeException ex) {
            warn(ex);
        }
    }

    private void warn(RuntimeException ex) {
        if (warned.compareAndSet(false, true)) {
            logger.log(Level.WARNING, "A rate limit listener failed; its further failures are not logged", ex);
        }
    }
}

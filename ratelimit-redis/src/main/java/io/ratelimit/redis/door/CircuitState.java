package io.ratelimit.redis.door;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.ratelimit.RateLimitStoreException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds the state of a circuit breaker: closed, or open, with a probe or without. Each transition is one compare-and-set from the
 * phase in which its cause began. A call that began before the last recovery therefore changes nothing, and exactly one call opens the
 * circuit.
 */
final class CircuitState {

    private final Supplier<CircuitBreaker> windows;

    private final AtomicReference<Phase> phase;

    /** One phase of the circuit. Phases are compared by identity: no phase occurs twice. */
    sealed interface Phase permits Closed, Open {}

    /** The server is called. The window judges the calls of this phase, and no others. */
    record Closed(CircuitBreaker window) implements Phase {}

    /**
     * The server is not called, except by one probe.
     *
     * @param probed whether there is a probe
     * @param since when the probe was started
     */
    record Open(RateLimitStoreException cause, boolean probed, long since) implements Phase {

        boolean isProbed(long now, long patience) {
            return probed && now - since <= patience;
        }
    }

    /** @param windows creates an empty window for each closed phase */
    CircuitState(Supplier<CircuitBreaker> windows) {
        this.windows = windows;
        this.phase = new AtomicReference<>(new Closed(windows.get()));
    }

    /** Returns the closed phase, or {@code null} if the circuit is not closed. */
    @Nullable
    Closed closed() {
        return phase.get() instanceof Closed closed ? closed : null;
    }

    /** Returns why the circuit is not closed, or {@code null} if it is. */
    @Nullable
    RateLimitStoreException cause() {
        return phase.get() instanceof Open open ? open.cause : null;
    }

    /** Returns whether a probe is under way that was not started too long ago. */
    boolean isProbed(long now, long patience) {
        return phase.get() instanceof Open open && open.isProbed(now, patience);
    }

    /** Opens the circuit, unless that phase is over. Returns whether this call opened it. */
    boolean open(Phase during, RateLimitStoreException cause) {
        return phase.compareAndSet(during, new Open(cause, false, 0));
    }

    /**
     * Starts a probe of an open circuit, or replaces one that was started too long ago.
     *
     * @return the phase that the probe ends, or {@code null} if no probe is to start
     */
    @Nullable
    Open probe(long now, long patience) {
        if (phase.get() instanceof Open open && !open.isProbed(now, patience)) {
            Open probe = new Open(open.cause, true, now);
            return phase.compareAndSet(open, probe) ? probe : null;
        }
        return null;
    }

    /** Closes the circuit, unless another probe has replaced this one. */
    void succeeded(Open probe) {
        phase.compareAndSet(probe, new Closed(windows.get()));
    }

    /** Closes the circuit of a server that no longer exists. */
    void retire() {
        phase.set(new Closed(windows.get()));
    }
}

package io.ratelimit.redis.door;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.ratelimit.RateLimitStoreException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds the state of a circuit breaker: closed, open or halfOpen. Each transition is one compare-and-set from the phase in which its
 * cause began. A call that began before the last recovery therefore changes nothing, and exactly one call opens the circuit.
 */
final class CircuitState {

    private final Supplier<CircuitBreaker> windows;

    private final AtomicReference<Phase> phase;

    /** One phase of the circuit. Phases are compared by identity: no phase occurs twice. */
    private sealed interface Phase permits Closed, Open, HalfOpen {}

    /** The server is called. The window judges the calls of this phase, and no others. */
    record Closed(CircuitBreaker window) implements Phase {}

    /** The server is not called. */
    private record Open(RateLimitStoreException cause) implements Phase {}

    /** The server is not called, except by one probe. */
    record HalfOpen(RateLimitStoreException cause, long since) implements Phase {}

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
        Phase now = phase.get();
        return now instanceof Open open ? open.cause : now instanceof HalfOpen halfOpen ? halfOpen.cause : null;
    }

    /** Returns whether a probe is under way that was not started too long ago. */
    boolean isProbed(long now, long patience) {
        return phase.get() instanceof HalfOpen halfOpen && now - halfOpen.since <= patience;
    }

    /** Opens the circuit, unless that closed phase is over. Returns whether this call opened it. */
    boolean open(Closed during, RateLimitStoreException cause) {
        return phase.compareAndSet(during, new Open(cause));
    }

    /**
     * Starts a probe of an open circuit, or replaces one that was started too long ago.
     *
     * @return the phase that the probe ends, or {@code null} if no probe is to start
     */
    @Nullable
    HalfOpen probe(long now, long patience) {
        Phase before = phase.get();
        HalfOpen halfOpen = null;
        if (before instanceof Open open) {
            halfOpen = new HalfOpen(open.cause, now);
        } else if (before instanceof HalfOpen lost && now - lost.since > patience) {
            halfOpen = new HalfOpen(lost.cause, now);
        }
        return halfOpen != null && phase.compareAndSet(before, halfOpen) ? halfOpen : null;
    }

    /** Closes the circuit, unless another probe has replaced this one. */
    void succeeded(HalfOpen probe) {
        phase.compareAndSet(probe, new Closed(windows.get()));
    }

    /** Leaves the circuit open and ready for the next probe. */
    void failed(HalfOpen probe, RateLimitStoreException cause) {
        phase.compareAndSet(probe, new Open(cause));
    }

    /** Closes the circuit of a server that no longer exists. */
    void retire() {
        phase.set(new Closed(windows.get()));
    }
}

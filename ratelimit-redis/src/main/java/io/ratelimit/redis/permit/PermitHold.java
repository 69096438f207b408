package io.ratelimit.redis.permit;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.script.ScriptInput;
import io.ratelimit.spi.Charge;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Tracks the permits of one bucket in Redis that a call asks for, holds, and releases when it ends. A hold ends once, by whatever
 * comes first: the call returns, is not decided, or is abandoned; its permits were reset; the instance stops.
 */
public final class PermitHold implements ScriptInput.Holding {

    private final PermitRegistry registry;

    private final long holder;

    private final Charge charge;

    private final byte[] name;

    private final AtomicReference<State> state = new AtomicReference<>(State.ASKED);

    /** When Redis has counted the permits last. */
    private volatile long renewed;

    private enum State {
        ASKED,
        HELD,
        ENDED
    }

    /**
     * @param holder the number of the call, by which Redis knows it
     * @param name of the bucket in Redis
     */
    PermitHold(PermitRegistry registry, long holder, Charge charge, byte[] name) {
        this.registry = registry;
        this.holder = holder;
        this.charge = charge;
        this.name = name;
    }

    @Override
    public long holder() {
        return holder;
    }

    @Override
    public Charge charge() {
        return charge;
    }

    byte[] name() {
        return name;
    }

    /** The call has the permits, which are renewed until the end. */
    public void begin() {
        if (state.compareAndSet(State.ASKED, State.HELD)) {
            registry.begin(this);
        }
    }

    boolean isHeld() {
        return state.get() == State.HELD;
    }

    /**
     * Ends the hold: the permits are not counted and not renewed any more, and released if Redis still counts them. Doing so again
     * changes nothing.
     *
     * @return done when the first attempt of the release has succeeded or failed; there are more attempts then
     */
    public CompletableFuture<Void> end() {
        return state.getAndSet(State.ENDED) == State.ENDED
                ? CompletableFuture.completedFuture(null)
                : registry.end(this);
    }

    /** Ends holds, and is done when the first attempts of all releases have succeeded or failed. */
    public static CompletableFuture<Void> end(Collection<PermitHold> holds) {
        return Futures.forAll(holds, PermitHold::end);
    }

    void renew(long now) {
        renewed = now;
    }

    boolean wasRenewedSince(long time) {
        return renewed - time >= 0;
    }

    boolean hasExpired(long now) {
        return now - renewed > charge.limit().hold().toNanos();
    }
}

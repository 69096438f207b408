package io.ratelimit.internal.store.lease;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A monotonic clock that also counts time in which the machine was suspended, as far as the wall clock shows it: the
 * system's monotonic clock stands still meanwhile, and the server's does not. A wall clock that is set forward counts like
 * a pause, and one that is set back has no effect.
 */
public final class PauseCountingClock implements LongSupplier {

    private final LongSupplier monotonic;

    private final LongSupplier wall;

    private final long offset;

    /** How far the wall clock has been ahead of the monotonic one, at the most. */
    private final AtomicLong paused = new AtomicLong();

    PauseCountingClock() {
        this(System::nanoTime, () -> System.currentTimeMillis() * 1_000_000);
    }

    /** Both in nanoseconds. */
    public PauseCountingClock(LongSupplier monotonic, LongSupplier wall) {
        this.monotonic = monotonic;
        this.wall = wall;
        this.offset = wall.getAsLong() - monotonic.getAsLong();
    }

    @Override
    public long getAsLong() {
        long now = monotonic.getAsLong();
        long ahead = wall.getAsLong() - now - offset;
        long known = paused.get();
        return now + (ahead > known ? paused.accumulateAndGet(ahead, Math::max) : known);
    }
}

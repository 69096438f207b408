package io.ratelimit.test;

import io.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until a test moves it. It starts at {@link #START}, at which windows of every usual length begin. */
public final class MutableTimeSource implements TimeSource {

    /** Midnight in UTC. */
    public static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final AtomicLong micros = new AtomicLong(toMicros(START));

    @Override
    public long micros() {
        return micros.get();
    }

    /** Returns the time. */
    public Instant instant() {
        long now = micros();
        return Instant.ofEpochSecond(Math.floorDiv(now, 1_000_000), Math.floorMod(now, 1_000_000) * 1_000L);
    }

    /**
     * Moves the clock forward.
     *
     * @param time not negative; rounded up to microseconds
     */
    public void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("time must not be negative (was " + time + ")");
        }
        micros.addAndGet(time.getSeconds() * 1_000_000 + (time.getNano() + 999) / 1_000);
    }

    /** Sets the clock, forward or back. */
    public void set(Instant time) {
        micros.set(toMicros(time));
    }

    /** Sets the clock back to {@link #START}. */
    public void reset() {
        set(START);
    }

    private static long toMicros(Instant time) {
        return time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
    }
}

package io.ratelimit.redis.door;

import java.util.function.LongSupplier;

/**
 * Measures the time during which this JVM runs. It stops while the JVM is stalled, by a pause of the garbage collector or by a
 * lack of CPU. A late beat reveals a stall, which counts as soon as it is two beats long, even before the late beat.
 */
public final class AwakeClock implements LongSupplier {

    private final LongSupplier nanos;

    private final long beat;

    private volatile State state = new State(false, 0, 0);

    /** @param stalled the time that stalls took until the last beat */
    private record State(boolean beating, long lastBeat, long stalled) {

        long lostAt(long now, long beat) {
            return beating ? stalled + Math.max(0, now - lastBeat - 2 * beat) : stalled;
        }
    }

    /**
     * @param nanos a monotonic clock
     * @param beat the longest time between two beats, in nanoseconds
     */
    public AwakeClock(LongSupplier nanos, long beat) {
        this.nanos = nanos;
        this.beat = beat;
    }

    @Override
    public long getAsLong() {
        long now = nanos.getAsLong();
        return now - state.lostAt(now, beat);
    }

    /** Returns the time including stalls. */
    long nanos() {
        return nanos.getAsLong();
    }

    /** Returns the time within which the next beat or rest must follow. */
    long beatNanos() {
        return beat;
    }

    /** Beats. Returns whether the beat is late, because this JVM was stalled. */
    boolean beat() {
        return set(true);
    }

    /** Announces that no beat follows for now. */
    void rest() {
        set(false);
    }

    private boolean set(boolean beating) {
        long now = nanos.getAsLong();
        State last = state;
        long stalled = last.lostAt(now, beat);
        state = new State(beating, now, stalled);
        return stalled > last.stalled;
    }
}

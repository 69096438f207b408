package io.ratelimit.redis;

import java.util.function.LongSupplier;

/**
 * Tells the time that passes while this JVM runs. It stands still while the JVM does: in a pause of the garbage collector,
 * without a share of the CPU. Such a stall shows in a beat that comes late; it is counted from the moment it is two beats
 * long, also before the late beat has come.
 */
final class AwakeClock implements LongSupplier {

    private final LongSupplier nanos;

    private final long beat;

    private volatile State state = new State(false, 0, 0);

    /** @param stalled the time lost until the last beat */
    private record State(boolean beating, long lastBeat, long stalled) {

        long lostAt(long now, long beat) {
            return beating ? stalled + Math.max(0, now - lastBeat - 2 * beat) : stalled;
        }
    }

    /**
     * @param nanos a monotonic clock
     * @param beat the longest that is between two beats, in nanoseconds
     */
    AwakeClock(LongSupplier nanos, long beat) {
        this.nanos = nanos;
        this.beat = beat;
    }

    @Override
    public long getAsLong() {
        long now = nanos.getAsLong();
        return now - state.lostAt(now, beat);
    }

    /** The time that passes in any case. */
    long nanos() {
        return nanos.getAsLong();
    }

    /** The next beat or rest is to come within this time. */
    long beatNanos() {
        return beat;
    }

    /** Beats. Returns whether it comes late: this JVM has stood still. */
    boolean beat() {
        return set(true);
    }

    /** There is no beat for a while. */
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

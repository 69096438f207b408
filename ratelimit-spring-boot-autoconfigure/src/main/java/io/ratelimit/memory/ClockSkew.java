package io.ratelimit.memory;

import org.jspecify.annotations.Nullable;

/**
 * How a bucket goes on while the clock is behind what it once showed. A bucket's own time never goes back: while the clock
 * shows less than the bucket has seen, the bucket goes on from there, at the clock's speed. So what was given back is not
 * given back again, and nobody waits for the clock.
 *
 * <p>Once the clock shows more, it is taken to be right again, because then nothing is given back for the time that it was
 * wrong. Only who was told to wait for longer than it is behind, and has, is right to think that it went on as it was.
 *
 * @param offset added to the clock
 * @param seen the bucket's own time when last looked at
 * @param promise the time for which a caller was told that the call could succeed then, or 0
 */
record ClockSkew(long offset, long seen, long promise) {

    /** @param seen the latest time that the bucket knows of otherwise */
    static @Nullable ClockSkew at(@Nullable ClockSkew last, long seen, long clock) {
        if (last == null) {
            return clock >= seen ? null : new ClockSkew(seen - clock, seen, 0);
        }
        long latest = Math.max(seen, last.seen);
        if (clock < latest) {
            return last.goOn(Math.max(last.offset, latest - clock), clock);
        }
        boolean kept = last.promise != 0 && clock + last.offset >= last.promise;
        return kept ? last.goOn(last.offset, clock) : null;
    }

    private ClockSkew goOn(long newOffset, long clock) {
        long now = clock + newOffset;
        return new ClockSkew(newOffset, now, promise <= now + newOffset ? 0 : promise);
    }

    /** Remembers for when a caller was told to come again. */
    ClockSkew promising(long retryMicros) {
        if (retryMicros <= offset) {
            return this;
        }
        long time = seen + retryMicros;
        return new ClockSkew(offset, seen, promise == 0 ? time : Math.min(promise, time));
    }
}

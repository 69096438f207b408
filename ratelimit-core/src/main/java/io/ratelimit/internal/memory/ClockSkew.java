package io.ratelimit.internal.memory;

import org.jspecify.annotations.Nullable;

/**
 * Keeps a bucket's own time from going back while the clock is behind what it showed before: the bucket's time goes on from
 * there at the clock's speed. So nothing is refilled twice, and no caller waits for the clock.
 *
 * <p>Once the clock shows more than the bucket has seen, it is trusted again, because then nothing is refilled for the time in
 * which it was wrong. One exception: if a caller was told to wait longer than the clock is behind, and did, it finds what was
 * promised.
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

    /** Records the time at which a rejected caller was told to try again. */
    ClockSkew promising(long retryMicros) {
        if (retryMicros <= offset) {
            return this;
        }
        long time = seen + retryMicros;
        return new ClockSkew(offset, seen, promise == 0 ? time : Math.min(promise, time));
    }
}

package io.ratelimit.testing.reference;

import java.time.Duration;
import java.util.List;

/** The block of one key by the book. Times are whole microseconds, so that no fraction is needed. */
final class ReferenceBlock {

    private long end;

    /** How long the last block was; 0: there was none, or it does not count. */
    private long duration;

    /** Which duration of the list the last block had. */
    private int place;

    ReferenceBlock copy() {
        ReferenceBlock copy = new ReferenceBlock();
        copy.end = end;
        copy.duration = duration;
        copy.place = place;
        return copy;
    }

    /** Zero if the key is not blocked. */
    long left(long now) {
        return Math.max(0, end - now);
    }

    /** Has the first duration, or the next one within the duration of the last block after its end. The last one repeats. */
    void violated(long now, List<Duration> durations) {
        boolean again = duration > 0 && now - end < duration;
        place = again ? Math.min(place + 1, durations.size() - 1) : 0;
        duration = durations.get(place).toNanos() / 1_000;
        end = now + duration;
    }

    /** An operator's block is no violation. */
    void block(long now, long micros) {
        end = now + micros;
        duration = 0;
    }
}

package io.ratelimit.testing;

import io.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands until it is set. */
public final class TestClock implements TimeSource {

    /** Some day in 2026. */
    public static final long TODAY = 1_795_132_800_123_456L;

    private final AtomicLong micros = new AtomicLong(TODAY);

    @Override
    public long micros() {
        return micros.get();
    }

    public void set(long now) {
        micros.set(now);
    }

    public void advance(long by) {
        micros.addAndGet(by);
    }

    public void advance(Duration by) {
        advance(inMicros(by));
    }

    public static long inMicros(Duration duration) {
        return duration.toSeconds() * 1_000_000 + duration.toNanosPart() / 1_000;
    }
}

package io.ratelimit.autoconfigure;

import io.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that only tests move. */
public class StoppedClock implements TimeSource {

    private final AtomicLong micros = new AtomicLong(1_800_000_000_000_000L);

    @Override
    public long micros() {
        return micros.get();
    }

    public void advance(Duration time) {
        micros.addAndGet(time.toNanos() / 1_000);
    }
}

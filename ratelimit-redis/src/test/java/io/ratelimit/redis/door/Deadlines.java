package io.ratelimit.redis.door;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Deadlines by a clock that never stalls. */
public final class Deadlines {

    private Deadlines() {}

    public static Deadline in(Duration time) {
        return in(time, System::nanoTime);
    }

    public static Deadline in(Duration time, LongSupplier nanos) {
        return Deadline.in(time, new AwakeClock(nanos, Duration.ofSeconds(1).toNanos()));
    }
}

package io.ratelimit.redis;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Deadlines by a clock that never stalls. */
final class Deadlines {

    private Deadlines() {}

    static Deadline in(Duration time) {
        return in(time, System::nanoTime);
    }

    static Deadline in(Duration time, LongSupplier nanos) {
        return Deadline.in(time, new AwakeClock(nanos, Duration.ofSeconds(1).toNanos()));
    }
}

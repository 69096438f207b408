package io.ratelimit.benchmarks.race;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** One histogram for each thread. It is read when the turn is over, and empty in the next. */
final class Latencies {

    private static final long LONGEST = TimeUnit.MINUTES.toNanos(10);

    private static final ThreadLocal<Histogram> OF_THREAD = ThreadLocal.withInitial(() -> new Histogram(LONGEST, 2));

    private Latencies() {}

    /** An empty one, for nanoseconds. */
    static Histogram start() {
        Histogram latencies = OF_THREAD.get();
        latencies.reset();
        return latencies;
    }
}

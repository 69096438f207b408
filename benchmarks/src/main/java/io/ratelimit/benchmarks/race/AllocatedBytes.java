package io.ratelimit.benchmarks.race;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * What all threads have allocated so far, those of Netty too. JMH's GCProfiler reads the same counters, but only once an
 * iteration, which here is a round of turns of several contestants.
 */
public final class AllocatedBytes {

    private static final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocatedBytes() {}

    public static long now() {
        long sum = 0;
        for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
            sum += Math.max(0, bytes);
        }
        return sum;
    }
}

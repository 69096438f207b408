package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.ratelimit.testing.LongRunning;
import java.lang.management.ManagementFactory;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** How much a call leaves behind of a log that is as long as it may be: nothing for each entry. */
@LongRunning
class PermitLogAllocationTests {

    private static final int LONGEST = 10_000;

    private static final int MOST_BYTES = 1_000;

    private final SlidingWindowLogRule rule = new SlidingWindowLogRule(LONGEST, 1_000_000);

    private final PermitLog full = full();

    @Test
    void rejectedCallIsToldWhenItsPermitsAreBack() {
        for (long most : new long[] {0, 1, LONGEST / 2, LONGEST - 1}) {
            assertThat(bytes(() -> rule.timeUntil(most, full, LONGEST))).isLessThan(MOST_BYTES);
        }
    }

    @Test
    void nearlyAllEntriesLeaveAtOnce() {
        long now = 1_000_000 + LONGEST - 2;
        assertThat(rule.recover(full, now).size()).isEqualTo(1);
        assertThat(bytes(() -> rule.take(rule.recover(full, now), now, 1))).isLessThan(MOST_BYTES);
    }

    @Test
    void whatIsGoneLeavesItsRoom() {
        long now = 1_000_000 + LONGEST - 2;
        PermitLog left = rule.take(rule.recover(full, now), now, 1);
        assertThat(left.size()).isEqualTo(2);
        assertThat(left.room()).isLessThan(20);
    }

    private PermitLog full() {
        PermitLog log = rule.unused(0);
        for (int call = 0; call < LONGEST; call++) {
            log = rule.take(log, call, 1);
        }
        return log;
    }

    /** What the second of two calls allocates: the first loads classes. */
    private static long bytes(Supplier<?> call) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = 0;
        for (int i = 0; i < 2; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            var unused = call.get();
            bytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        return bytes;
    }
}

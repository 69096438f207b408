package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Buckets whose permits calls hold are there as long as these calls, in a table with room for one bucket. */
class HeldBucketTests {

    private final RateLimit two = TestLimits.concurrency("two", 2);

    private final RateLimit once = TestLimits.fixedWindow("once", 1, "1/h");

    private final BucketTable table =
            new BucketTable(1, (limit, state, clock) -> new EvictionPriority(1, 1), () -> {}, bound -> 0);

    private final JointCall call = new JointCall(new TestClock(), table);

    @Test
    void noneIsEvictedOrTakesThePlaceOfAnother() {
        decide(new Charge(once, "alice", 1));
        decide(new Charge(two, "alice", 1));
        decide(new Charge(two, "bob", 1));
        assertThat(table.of(two)).hasSize(2);
        assertThat(table.of(once)).hasSize(1);
        assertThat(table.size()).isEqualTo(1);
    }

    @Test
    void leavesWithItsLastPermit() {
        Charge charge = new Charge(two, "alice", 2);
        Bucket bucket = decide(charge).get(charge).bucket();
        TestStates.write(bucket, TestStates.of(two, 1, 0));
        assertThat(bucket.isForgotten()).isFalse();
        TestStates.write(bucket, null);
        assertThat(bucket.isForgotten()).isTrue();
        table.removeUnused(bucket);
        assertThat(table.of(two)).isEmpty();
    }

    @Test
    void callThatAnotherLimitRejectsLeavesNone() {
        decide(new Charge(once, "alice", 1));
        decide(new Charge(two, "alice", 1), new Charge(once, "alice", 1));
        assertThat(table.of(two)).isEmpty();
    }

    private Map<Charge, ChargedPermits> decide(Charge... charges) {
        Map<Charge, ChargedPermits> receipts = new HashMap<>();
        call.decide(List.of(charges), receipts);
        return receipts;
    }
}

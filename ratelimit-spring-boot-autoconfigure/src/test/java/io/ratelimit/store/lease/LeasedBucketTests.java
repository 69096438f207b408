package io.ratelimit.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.store.lease.LeasedBucket.Approach;
import org.junit.jupiter.api.Test;

/** Leases of one bucket come one after the other. */
class LeasedBucketTests {

    private final RateLimit limit = LeasingInstances.window("quotes", 100, 10);

    private final LeasedBucket bucket = new LeasedBucket(limit);

    @Test
    void callThatComesWhenTheLeaseHasLandedTakesFromIt() {
        assertThat(bucket.approach(1, 0)).as("the first call of a key").isNull();
        Approach first = bucket.approach(1, 0);
        assertThat(first.asks()).isTrue();
        bucket.land(first.request(), LeasedPermitsTests.stock(limit), 0);
        Approach second = bucket.approach(5, 0);
        assertThat(second.asks()).isFalse();
        assertThat(second.request().landing()).isCompleted();
        assertThat(bucket.approach(6, 0).asks()).as("more than there is").isTrue();
    }
}

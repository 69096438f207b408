package io.ratelimit.internal.store.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.store.lease.LeasedBucket.JoinedRequest;
import org.junit.jupiter.api.Test;

/** Leases of one bucket come one after the other. */
class LeasedBucketTests {

    private final RateLimit limit = LeasingInstances.window("quotes", 100, 10);

    private final LeasedBucket bucket = new LeasedBucket(limit, "");

    @Test
    void callThatComesWhenTheLeaseHasLandedTakesFromIt() {
        assertThat(bucket.join(1, 0)).as("the first call of a key").isNull();
        JoinedRequest first = bucket.join(1, 0);
        assertThat(first.asks()).isTrue();
        bucket.receive(first.request(), LeasedPermitsTests.leased(limit), 0);
        JoinedRequest second = bucket.join(5, 0);
        assertThat(second.asks()).isFalse();
        assertThat(second.request().completion()).isCompleted();
        assertThat(bucket.join(6, 0).asks()).as("more than there is").isTrue();
    }
}

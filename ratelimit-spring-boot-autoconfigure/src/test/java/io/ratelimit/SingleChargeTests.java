package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.metrics.TimedRateLimitStore;
import io.ratelimit.store.ForwardingStore;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StubStore;
import io.ratelimit.store.failover.FailoverRateLimitStore;
import io.ratelimit.store.lease.LeasingRateLimitStore;
import io.ratelimit.store.rejection.RejectionCachingRateLimitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A call of one charge stays one charge on its way through all stores. */
class SingleChargeTests {

    private static final Charge CALL = new Charge(TestLimits.tokenBucket("quotes", 10, "10/s"), "alice", 1);

    private static final RateLimitDecision ALLOWED = RateLimitDecision.ofMicros(10, 9, 0, 0, 100_000);

    private static final RateLimitDecision REJECTED = RateLimitDecision.ofMicros(10, 0, 0, 100_000, 1_000_000);

    private final List<Charge> asked = new ArrayList<>();

    private RateLimitDecision answer = ALLOWED;

    private final RateLimitStore shared = new ForwardingStore(new StubStore()) {
        @Override
        public RateLimitDecision decide(Charge charge) {
            asked.add(charge);
            return answer;
        }

        @Override
        public List<RateLimitDecision> decide(List<Charge> charges) {
            throw new AssertionError("made a list of one charge");
        }
    };

    private final LeasingRateLimitStore leasing = new LeasingRateLimitStore(
            new RejectionCachingRateLimitStore(new TimedRateLimitStore(shared, "redis", new SimpleMeterRegistry())),
            Duration.ofSeconds(20));

    private final RateLimitStore store = new FailoverRateLimitStore(leasing, new StubStore());

    @AfterEach
    void close() {
        leasing.close();
    }

    @Test
    void reachesTheStoreAsOne() {
        assertThat(store.decide(CALL)).isSameAs(ALLOWED);
        assertThat(asked).containsExactly(CALL);
    }

    @Test
    void rememberedRejectionIsFoundAsOne() {
        answer = REJECTED;
        assertThat(store.decide(CALL)).isSameAs(REJECTED);
        assertThat(store.decide(CALL).allowed()).isFalse();
        assertThat(asked).hasSize(1);
    }
}

package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ratelimit.internal.store.contract.StoreContracts;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.TestLimits;
import java.util.List;
import org.junit.jupiter.api.Test;

class InMemoryRateLimitStoreTests extends StoreContracts {

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return new InMemoryRateLimitStore(time, 1_000);
    }

    /** A caller of the SPI may ask so; nothing would release the permits. */
    @Test
    void permitsOfAConcurrencyLimitAreNotTakenWithoutARefund() {
        RateLimitStore store = storeAt(TimeSource.monotonic());
        Charge held = new Charge(TestLimits.concurrency("held", 2), "alice", 1);
        Charge other = new Charge(TestLimits.tokenBucket("other", 5, "1/h"), "alice", 1);
        assertThatIllegalStateException().isThrownBy(() -> store.decide(held).await());
        assertThatIllegalStateException()
                .isThrownBy(() ->
                        store.decide(StoreRequest.of(List.of(other, held))).await());
        assertThatIllegalStateException().isThrownBy(() -> store.charge(held));
        assertThat(remaining(store, held)).isEqualTo(2);
        assertThat(remaining(store, other)).isEqualTo(5);
    }

    private static long remaining(RateLimitStore store, Charge charge) {
        return store.decide(StoreRequest.peek(charge)).await().decision().remaining();
    }
}

package io.ratelimit.internal.store.scope;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Scope;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import java.util.Map;
import java.util.function.UnaryOperator;

/** With limits in several servers and in memory. */
class CrossServerRandomTests extends DividedStoreContract {

    private static final String MEMORY = "";

    @Override
    RateLimitStore dividedStore() {
        RateLimitStore instance = store();
        return RoutingRateLimitStore.byScope(
                RoutingRateLimitStore.byServer(
                        new FailoverRateLimitStore(store(), instance),
                        Map.of(
                                "eu", new FailoverRateLimitStore(store(), instance),
                                "us", new FailoverRateLimitStore(store(), instance)),
                        UnaryOperator.identity()),
                instance);
    }

    @Override
    void assign(RateLimitBuilder limit) {
        String server = oneOf("default", "eu", "us", MEMORY);
        if (server.equals(MEMORY)) {
            limit.scope(Scope.INSTANCE);
        } else {
            limit.redis(server);
        }
    }

    /** What was refunded tells at most when the bucket would be full with its charge. */
    @Override
    void assertDecision(
            StoreRequest request, RateLimitDecision actual, RateLimitDecision expected, boolean mayBeRefunded) {
        if (!mayBeRefunded || !expected.allowed()) {
            super.assertDecision(request, actual, expected, mayBeRefunded);
            return;
        }
        assertThat(actual.allowed()).as("%s", request).isTrue();
        assertThat(actual.capacity()).isEqualTo(expected.capacity());
        assertThat(actual.delay()).isEqualTo(expected.delay());
        assertThat(actual.remaining()).as("%s", request).isLessThanOrEqualTo(expected.remaining());
        if (expected.delay().isZero()) {
            assertThat(actual.remaining()).as("%s", request).isEqualTo(expected.remaining());
        }
        assertThat(actual.resetAfter()).as("%s", request).isGreaterThanOrEqualTo(expected.resetAfter());
    }
}

package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several instances of an application, each with connections and threads of its own, by the server's own time. */
@Timeout(180)
class RedisConcurrencyTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final int INSTANCES = 4;

    private static final int THREADS = 8;

    private static final int CALLS = 150;

    private final List<RedisConnector> connectors = new ArrayList<>();

    private final List<RateLimitStore> stores = new ArrayList<>();

    private final RateLimit many = TestLimits.tokenBucket("many", 2_000, "1/h");

    private final RateLimit few = TestLimits.fixedWindow("few", 1_000, "1/h");

    @BeforeEach
    void startInstances() {
        String prefix = RedisUnderTest.newPrefix();
        for (int i = 0; i < INSTANCES; i++) {
            RedisConnector connector = new RedisConnector(
                    redis.connections(), Duration.ofSeconds(20), RateLimitScript.load(), RateLimitLibrary.load());
            connectors.add(connector);
            stores.add(TestStores.over(connector, prefix));
        }
    }

    @AfterEach
    void stopInstances() throws Exception {
        for (RedisConnector connector : connectors) {
            connector.destroy();
        }
    }

    @Test
    void instancesTogetherAdmitExactlyTheCapacity() throws Exception {
        assertThat(count(many)).isEqualTo(2_000);
    }

    @Test
    void limitsInOppositeOrderAreChargedTogether() throws Exception {
        assertThat(count(many, few)).isEqualTo(1_000);
        assertThat(remaining(many)).isEqualTo(1_000);
        assertThat(remaining(few)).isZero();
    }

    /** Every other thread names the limits in the opposite order. */
    private long count(RateLimit... limits) throws Exception {
        List<Charge> charges = List.of(limits).stream()
                .map(limit -> new Charge(limit, "key", 1))
                .toList();
        List<Charge> reversed = new ArrayList<>(charges);
        Collections.reverse(reversed);
        return ParallelCalls.countAllowed(INSTANCES * THREADS, CALLS, thread -> {
            RateLimitStore store = stores.get(thread % INSTANCES);
            List<Charge> inOrder = thread / INSTANCES % 2 == 0 ? charges : reversed;
            return () -> store.decide(StoreRequest.of(inOrder)).await().decisions().stream()
                    .allMatch(RateLimitDecision::allowed);
        });
    }

    private long remaining(RateLimit limit) {
        return stores.get(0)
                .decide(StoreRequest.peek(new Charge(limit, "key", 0)))
                .await()
                .decision()
                .remaining();
    }
}

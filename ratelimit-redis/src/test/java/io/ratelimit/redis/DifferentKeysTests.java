package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.AsyncStore;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Limits of one call with different keys, on one server and on a cluster, where no script can reach them all. */
@LongRunning
class DifferentKeysTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @RegisterExtension
    static final RedisClusterUnderTest cluster = new RedisClusterUnderTest();

    private static RedisConnector toServer;

    private static RedisConnector toCluster;

    @BeforeAll
    static void connect() {
        toServer = new RedisConnector(
                redis.connections(), Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());
        toCluster = new RedisConnector(
                cluster.connections(), Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());
    }

    @AfterAll
    static void close() throws Exception {
        toServer.destroy();
        toCluster.destroy();
    }

    private static RateLimitStore storeOver(RedisConnector connector) {
        return TestStores.over(connector, RedisUnderTest.newPrefix());
    }

    @Nested
    class OnOneServer extends DifferentKeysContract {

        @Override
        protected RateLimitStore newStore() {
            return storeOver(toServer);
        }
    }

    @Nested
    class OnACluster extends DifferentKeysContract {

        @Override
        protected RateLimitStore newStore() {
            return storeOver(toCluster);
        }
    }

    @Nested
    class OnAClusterWithoutBlocking extends DifferentKeysContract {

        @Override
        protected RateLimitStore newStore() {
            return new AsyncStore(storeOver(toCluster));
        }
    }

    @Test
    void whatARejectedCallTookAndGaveBackLeavesNoKey() {
        RateLimit bucket = TestLimits.tokenBucket("bucket", 10, "10/h");
        RateLimit window = TestLimits.fixedWindow("window", 10, "10/h");
        String prefix = RedisUnderTest.newPrefix();
        RateLimitStore store = TestStores.over(toCluster, prefix);
        List<Charge> charges = Stream.of("alice", "bob", "carol", "dave")
                .flatMap(key ->
                        Stream.of(new Charge(bucket, key, 3), new Charge(window, key, key.length() == 5 ? 3 : 11)))
                .toList();
        assertThat(store.decide(StoreRequest.of(charges)).await().decisions().stream()
                        .filter(decision -> !decision.allowed()))
                .hasSize(2);
        assertThat(cluster.commands().keys(prefix + "*")).isEmpty();
    }
}

package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.redis.OtherConnectionFactory;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisClusterUnderTest;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A call after the shutdown is told so, whatever Redis is and whether it ever was there. */
@LongRunning
@Timeout(180)
class CallsAfterShutdownTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @RegisterExtension
    static final RedisUnderTest server = new RedisUnderTest();

    @RegisterExtension
    static final RedisClusterUnderTest cluster = new RedisClusterUnderTest();

    @Test
    void server() throws Exception {
        assertClosed(server.connections(), true);
    }

    @Test
    void cluster() throws Exception {
        assertClosed(cluster.connections(), true);
    }

    @Test
    void serverThatNobodyHasConnectedTo() throws Exception {
        assertClosed(server.connections(), false);
    }

    @Test
    void clusterThatNobodyHasConnectedTo() throws Exception {
        assertClosed(cluster.connections(), false);
    }

    @Nested
    class AnotherDriver {

        @Test
        void whoseConnectionsAreStoppedFirst() throws Exception {
            LettuceConnectionFactory users = SharedRedis.get().connect();
            RedisConnector connector = new RedisConnector(
                    new OtherConnectionFactory(users), TIMEOUT, RateLimitScript.load(), RateLimitLibrary.load());
            connector.connect();
            users.stop();
            assertClosed(connector);
            users.destroy();
            assertClosed(connector);
            connector.destroy();
        }
    }

    private static void assertClosed(RedisConnectionFactory connections, boolean connected) throws Exception {
        RedisConnector connector =
                new RedisConnector(connections, TIMEOUT, RateLimitScript.load(), RateLimitLibrary.load());
        if (connected) {
            connector.connect();
        }
        connector.destroy();
        assertClosed(connector);
    }

    private static void assertClosed(RedisConnector connector) {
        GuardedRedis redis = TestStores.guarded(connector, TIMEOUT, "test");
        RateLimitStore store = new RedisRateLimitStore(redis, "test");
        Charge charge = new Charge(TestLimits.tokenBucket("limit", 1, "1/h"), "key", 1);
        assertThat(catchThrowableOfType(
                                RateLimitStoreException.class,
                                () -> store.decide(StoreRequest.of(List.of(charge)))
                                        .await()
                                        .decisions())
                        .getReason())
                .isEqualTo(Reason.CLOSED);
        assertThat(catchThrowableOfType(
                                RateLimitStoreException.class,
                                () -> store.decide(StoreRequest.peek(charge))
                                        .await()
                                        .decision())
                        .getReason())
                .isEqualTo(Reason.CLOSED);
        assertThat(catchThrowableOfType(
                                RateLimitStoreException.class,
                                () -> BoundedWait.get(
                                        store.change(charge.limit(), charge.key(), BucketChange.RESET),
                                        RateLimitStore.LONGEST))
                        .getReason())
                .isEqualTo(Reason.CLOSED);
        CompletionException failure = catchThrowableOfType(
                CompletionException.class,
                () -> store.decide(StoreRequest.of(List.of(charge)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join());
        assertThat(failure.getCause())
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        known -> assertThat(known.getReason()).isEqualTo(Reason.CLOSED));
    }
}

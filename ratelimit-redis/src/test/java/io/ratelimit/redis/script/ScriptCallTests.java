package io.ratelimit.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How the script reaches the server, and what it leaves there. */
class ScriptCallTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RateLimit bucket = TestLimits.tokenBucket("bucket", 10, "10/h");

    private final RateLimit window = TestLimits.fixedWindow("window", 10, "10/h");

    private final RedisConnector connector =
            new RedisConnector(redis.connections(), Duration.ofSeconds(10), RateLimitScript.load(), null);

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimitStore store = TestStores.over(connector, prefix);

    @AfterEach
    void close() throws Exception {
        connector.destroy();
    }

    @Test
    void flushedScriptIsLoadedWithinTheCall() {
        take(1);
        redis.connections().getConnection().scriptingCommands().scriptFlush();
        assertThat(take(1)).extracting(RateLimitDecision::remaining).containsExactly(8L, 8L);
        redis.connections().getConnection().scriptingCommands().scriptFlush();
        assertThat(store.decide(StoreRequest.of(charges(1)))
                        .toStage()
                        .thenApply(StoreOutcome::decisions)
                        .toCompletableFuture()
                        .join())
                .extracting(RateLimitDecision::remaining)
                .containsExactly(7L, 7L);
    }

    @Test
    void decisionIsOneCallByDigest() {
        connector.connect();
        long digests = calls("evalsha");
        long texts = calls("eval");
        for (int i = 0; i < 5; i++) {
            take(i);
        }
        assertThat(calls("evalsha") - digests).isEqualTo(5);
        store.decide(StoreRequest.of(charges(1)))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture()
                .join();
        store.decide(StoreRequest.peek(new Charge(bucket, "alice", 1))).await().decision();
        assertThat(calls("evalsha") - digests).isEqualTo(7);
        assertThat(calls("eval") - texts).isZero();
    }

    @Test
    void everyKeyExpires() {
        take(1);
        take(20);
        store.decide(new Charge(bucket, null, 10)).await();
        store.decide(StoreRequest.of(List.of(new Charge(window, "x".repeat(1_000_000), 10))))
                .await();
        Set<String> keys = redis.commands().keys(prefix + "*");
        assertThat(keys).hasSize(4).allSatisfy(key -> {
            long expiry = redis.commands().getExpire(key, TimeUnit.MILLISECONDS);
            assertThat(expiry).isPositive().isLessThanOrEqualTo(3_600_000);
        });
    }

    @Test
    void whatTakesNothingLeavesNothing() {
        take(0);
        take(11);
        store.decide(StoreRequest.peek(new Charge(bucket, "alice", 1))).await().decision();
        assertThat(redis.commands().keys(prefix + "*")).isEmpty();
    }

    @Test
    void resetDeletesTheKey() {
        take(1);
        store.change(bucket, "alice", BucketChange.RESET).toCompletableFuture().join();
        store.change(window, "alice", BucketChange.RESET).toCompletableFuture().join();
        assertThat(redis.commands().keys(prefix + "*")).isEmpty();
    }

    private List<RateLimitDecision> take(long permits) {
        return store.decide(StoreRequest.of(charges(permits))).await().decisions();
    }

    private List<Charge> charges(long permits) {
        return List.of(new Charge(bucket, "alice", permits), new Charge(window, "alice", permits));
    }

    private static long calls(String command) {
        Properties stats = redis.connections().getConnection().serverCommands().info("commandstats");
        String line = stats.getProperty("cmdstat_" + command, "calls=0,");
        return Long.parseLong(line.substring("calls=".length(), line.indexOf(',')));
    }
}
